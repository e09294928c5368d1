#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

#include "common/record/model_version.h"
#include "common/specs/machine.h"
#include "tests/fidelity/measure.h"
#include "tests/support/golden.h"
#include "tests/support/kernel_runner.h"
#include "tests/support/part_of_today.h"
#include "tests/support/thirds.h"

namespace roofwalk::test {
namespace {

namespace fs = std::filesystem;

using ::testing::HasSubstr;

// The points of one half: "fitted", whose sources may be used to fit the model, or "held_out".
std::vector<Point> points_of(const std::string& half) {
  std::vector<Point> points;
  for (const fs::path& file : points_files(source_root() / "tests/fidelity/points" / half)) {
    const auto read = read_points(file);
    EXPECT_TRUE(read.ok()) << read.error().text();
    if (read) points.insert(points.end(), read->begin(), read->end());
  }
  return points;
}

std::vector<Point> all_points() {
  std::vector<Point> points = points_of("fitted");
  for (Point& point : points_of("held_out")) points.push_back(std::move(point));
  return points;
}

std::string first_word(const std::string& text) { return text.substr(0, text.find(' ')); }

TEST(Points, HaveASourceAKernelAndAMachine) {
  const std::vector<std::string> machines = machine_names();
  const std::set<std::string> known(machines.begin(), machines.end());
  std::set<std::string> seen;
  for (const Point& point : all_points()) {
    EXPECT_FALSE(point.source.empty()) << point.where;
    EXPECT_TRUE(point.published.has_value()) << point.where;
    EXPECT_TRUE(known.contains(point.chip)) << point.where << ": " << point.chip;
    EXPECT_TRUE(fs::exists(source_root() / "tests/fidelity/kernels" / (point.kernel + ".cu"))) << point.where;
    EXPECT_TRUE(seen.insert(point.source + point.chip + point.mechanism + point.what).second)
        << point.where << ": a second point of that name";
  }
  EXPECT_GT(seen.size(), 700u);
}

// A held-out source tests what the model predicts, so no figure of a machine may come from it.
TEST(Points, OfHeldOutSourcesFitNoMachine) {
  std::set<std::string> held_out, fitted, chips;
  for (const Point& point : points_of("held_out")) held_out.insert(first_word(point.source)), chips.insert(point.chip);
  for (const Point& point : points_of("fitted")) fitted.insert(first_word(point.source));
  EXPECT_GE(held_out.size(), 10u);
  EXPECT_GE(chips.size(), 6u);
  for (const std::string& source : held_out) {
    EXPECT_FALSE(fitted.contains(source)) << source;
    for (const std::string& machine : machine_names()) {
      std::ifstream file(source_root() / "common/specs" / (machine + ".toml"));
      const std::string text(std::istreambuf_iterator<char>(file), {});
      EXPECT_EQ(text.find(source), std::string::npos) << machine << " cites " << source;
    }
  }
}

TEST(Points, AreRefusedWithFileAndLine) {
  const fs::path file = fs::temp_directory_path() / ("points-" + std::to_string(getpid()) + ".csv");
  const std::string header = "source,chip,mechanism,what,kernel,defines,arguments,launches,amount,unit,published\n";
  const auto error_of = [&](const std::string& text) {
    std::ofstream(file) << text;
    const auto read = read_points(file);
    return read ? std::string() : read.error().text();
  };
  EXPECT_EQ(error_of(header + "s,h200,m,w,k,,zeros:4 int:3,2-1,10,GB/s,5.5\n"), "");
  EXPECT_THAT(error_of("source\n"), HasSubstr(":1: "));
  EXPECT_THAT(error_of(header + "s,h200,m,w,k,,int:3\n"), HasSubstr(":2: it has 7 fields"));
  EXPECT_THAT(error_of(header + "s,h200,m,w,k,,twos:4,1,10,GB/s,5\n"), HasSubstr("`twos:4` is not an argument"));
  EXPECT_THAT(error_of(header + "s,h200,m,w,k,,chain:4,1,10,GB/s,5\n"), HasSubstr("`chain:4` is not an argument"));
  EXPECT_THAT(error_of(header + "s,h200,m,w,k,,int:4,x,10,GB/s,5\n"), HasSubstr("`x` are not launches"));
  EXPECT_THAT(error_of(header + "s,h200,m,w,k,,int:4,1,10,miles,5\n"), HasSubstr("`miles` is not a unit"));
  EXPECT_THAT(error_of(header + "s,h200,m,w,k,,int:4,1,10,ns,much\n"), HasSubstr("`much` is not a value"));
  fs::remove(file);
}

TEST(Points, ValuesHaveTheirUnit) {
  Point point;
  point.amount = 1000;
  const auto value = [&](const char* unit) {
    point.unit = unit;
    return value_of(point, 500, 2e9);
  };
  EXPECT_DOUBLE_EQ(value("GB/s"), 2);
  EXPECT_DOUBLE_EQ(value("GFLOP/s"), 2);
  EXPECT_DOUBLE_EQ(value("cycles"), 1);
  EXPECT_DOUBLE_EQ(value("ns"), 0.5);
  EXPECT_DOUBLE_EQ(value("us"), 0.0005);
}

TEST(Points, AreSummedUpByMechanism) {
  const auto error = [](const char* mechanism, const char* what, const char* unit, double published, double value) {
    PointError out;
    out.point.chip = "h200";
    out.point.mechanism = mechanism;
    out.point.what = what;
    out.point.unit = unit;
    out.point.published = published;
    out.value = value;
    return out;
  };
  EXPECT_EQ(table_of({error("a", "first", "us", 10, 11), error("b", "one", "GB/s", 4, 1),
                      error("a", "second", "us", 20, 16), error("a", "third", "us", 15, 15)}),
            "| mechanism | chips | points | mean error | worst: here / published |\n"
            "|---|---|---:|---:|---|\n"
            "| a | h200 | 3 | 10.0 % | h200, second: 16 / 20 us |\n"
            "| b | h200 | 1 | 75.0 % | h200, one: 1 / 4 GB/s |\n"
            "\n"
            "4 points: mean error 26.2 %, median 20.0 %; 1 beyond a factor of two.\n"
            "Rank correlation in GB/s: 1.000.\n"
            "Rank correlation in us: 1.000.\n");
  EXPECT_EQ(chips_and_farthest_of({error("a", "first", "us", 10, 11), error("b", "one", "GB/s", 4, 1),
                                   error("a", "second", "us", 20, 16), error("a", "third", "us", 15, 15)},
                                  2),
            "| chip | points | mean error | median |\n"
            "|---|---:|---:|---:|\n"
            "| h200 | 4 | 26.2 % | 20.0 % |\n"
            "\n"
            "| the 2 farthest points | here | published | factor |\n"
            "|---|---:|---:|---:|\n"
            "| h200, b: one | 1 GB/s | 4 | 0.25 |\n"
            "| h200, a: second | 16 us | 20 | 0.80 |\n");
}

// Runs points on the virtual GPU, each on the machine that models its chip.
std::vector<PointError> errors_of(const std::vector<Point>& points) {
  const auto toolkit = find_toolkit(source_root());
  EXPECT_TRUE(toolkit.ok()) << (toolkit ? "" : toolkit.error().text());
  RunOptions options;
  options.max_work = 400'000'000'000;
  options.max_seconds = 3600;
  struct Machine {
    std::unique_ptr<Device> device;
    std::optional<PointRunner> runner;
  };
  std::map<std::string, Machine> machines;
  std::vector<PointError> errors;
  for (const Point& point : points) {
    Machine& machine = machines[point.chip];
    if (!machine.device) {
      machine.device = open_device("virtual:" + point.chip).value();
      machine.runner.emplace(*machine.device, *toolkit, kernel_folder() / "points");
    }
    const auto figure = machine.runner->measure(point, options);
    EXPECT_TRUE(figure.ok()) << point.where << ": " << (figure ? "" : figure.error().text());
    if (figure) errors.push_back({point, figure->value});
  }
  return errors;
}

// A few points of each mechanism, those that take little time. Their figures belong to a version of the model: whoever
// changes them raises kModelVersion (common/record/model_version.h), once between two releases, and writes the table
// anew with ROOFWALK_REWRITE=1.
std::vector<Point> sample() {
  const fs::path folder = source_root() / "tests/fidelity";
  const auto points = read_points(folder / "points/fitted/h200_measured.csv");
  EXPECT_TRUE(points.ok()) << (points ? "" : points.error().text());
  std::ifstream file(folder / "sample.txt");
  std::vector<Point> some;
  for (std::string name; points && std::getline(file, name);) {
    const auto found = std::find_if(points->begin(), points->end(),
                                    [&](const Point& p) { return p.mechanism + ": " + p.what == name; });
    EXPECT_NE(found, points->end()) << name;
    if (found != points->end()) some.push_back(*found);
  }
  EXPECT_GE(some.size(), 25u);
  return some;
}

std::string sample_header() {
  return fmt::format("Model version {}.\n\n| point of an H200 | measured | here | off by |\n|---|---:|---:|---:|\n",
                     kModelVersion);
}

std::string sample_line(const PointError& error) {
  return fmt::format("| {}: {} | {:.4g} {} | {:.4g} | {:.0f} % |\n", error.point.mechanism, error.point.what,
                     *error.point.published, error.point.unit, error.value, 100 * (error.ratio() - 1));
}

fs::path sample_table() { return source_root() / "tests/fidelity/errors/sample.md"; }

TEST(LongSample, HasTheFiguresOfThisModelVersion) {
  std::string table = sample_header();
  for (const PointError& each : errors_of(sample())) table += sample_line(each);
  roofwalk::testing::expect_golden(sample_table(), table);
}

// The quick test holds every third line of the table.
TEST(Sample, HasTheFiguresOfThisModelVersion) {
  std::ifstream table(sample_table());
  const std::string recorded(std::istreambuf_iterator<char>(table), {});
  EXPECT_THAT(recorded, ::testing::StartsWith(sample_header()));
  for (const PointError& each : errors_of(every_third(sample())))
    EXPECT_THAT(recorded, ::testing::HasSubstr(sample_line(each)));
}

fs::path errors_file(const std::string& name) { return source_root() / "tests/fidelity/errors" / name; }

std::vector<Point> points_of_gpu_benches() {
  const auto points = read_points(source_root() / "tests/fidelity/points/fitted/gpu_benches.csv");
  EXPECT_TRUE(points.ok()) << points.error().text();
  return points ? *points : std::vector<Point>();
}

// The tables of errors beside the points follow from the recorded figures.
TEST(Tables, FollowFromTheFigures) {
  for (const auto& [name, points] :
       {std::pair{"gpu_benches", points_of_gpu_benches()}, std::pair{"held_out", points_of("held_out")}}) {
    const auto errors = read_figures(errors_file(std::string(name) + ".csv"), points);
    ASSERT_TRUE(errors.ok()) << errors.error().text();
    roofwalk::testing::expect_golden(errors_file(std::string(name) + ".md"),
                                     table_of(*errors) + "\n" + chips_and_farthest_of(*errors, 10));
  }
}

TEST(Tables, LackNoPointAndHaveNoOther) {
  const fs::path file = fs::temp_directory_path() / ("figures-" + std::to_string(getpid()) + ".csv");
  Point point;
  point.chip = "h200", point.mechanism = "m", point.what = "w", point.unit = "us", point.published = 2.5;
  const auto error_of = [&](const std::string& text, const std::vector<Point>& points) {
    std::ofstream(file) << "chip,mechanism,what,unit,published,here\n" << text;
    const auto read = read_figures(file, points);
    return read ? std::to_string(read->size()) : read.error().text();
  };
  EXPECT_EQ(figures_of({{point, 3.25}}), "chip,mechanism,what,unit,published,here\nh200,m,w,us,2.5,3.25\n");
  EXPECT_EQ(error_of("h200,m,w,us,2.5,3.25\n", {point}), "1");
  EXPECT_THAT(error_of("", {point}), HasSubstr("no line `h200,m,w,us,2.5`"));
  EXPECT_THAT(error_of("h200,m,w,us,2.4,3.25\n", {point}), HasSubstr("no line `h200,m,w,us,2.5`"));
  EXPECT_THAT(error_of("h200,m,w,us,2.5,3.25\n", {}), HasSubstr("`h200,m,w,us,2.5` is of no point"));
  EXPECT_THAT(error_of("h200,m,w,us,2.5,much\n", {point}), HasSubstr(":2: it has no value"));
  fs::remove(file);
}

TEST(Tables, PartsHaveEachPointOnce) {
  const std::vector<Point> points = all_points();
  std::size_t sum = 0;
  for (std::uint64_t part = 0; part < kParts; ++part) {
    const std::size_t size = part_of(points, part, kParts).size();
    EXPECT_GT(size, points.size() / kParts / 2);
    sum += size;
  }
  EXPECT_EQ(sum, points.size());
}

// Runs points on the virtual GPU, those of a part (part_of_today.h). Their figures must be the recorded ones.
void expect_figures(const std::vector<Point>& all, const std::string& name) {
  const auto part = part_of_today();
  SCOPED_TRACE(how_to_repeat(part));
  const std::vector<Point> points = part ? part_of(all, *part, kParts) : all;
  const std::string here = figures_of(errors_of(points));
  if (!part) return roofwalk::testing::expect_golden(errors_file(name), here);
  const auto recorded = read_figures(errors_file(name), all);
  ASSERT_TRUE(recorded.ok()) << recorded.error().text();
  std::vector<PointError> of_part;
  for (const Point& point : points) {
    of_part.push_back(*std::find_if(recorded->begin(), recorded->end(),
                                    [&](const PointError& each) { return each.point.where == point.where; }));
  }
  EXPECT_EQ(here, figures_of(of_part));
}

TEST(Long, FiguresOfGpuBenchesAreTheRecordedOnes) { expect_figures(points_of_gpu_benches(), "gpu_benches.csv"); }
TEST(Long, FiguresOfHeldOutPointsAreTheRecordedOnes) { expect_figures(points_of("held_out"), "held_out.csv"); }

// The published ladder of matrix products. Each step gains over the one before what it gained on the card, on the
// card's machine file and on another one; there, the best step is the same.
struct LadderOn {
  const char* chip;
  double tolerance;
  std::uint64_t part;  // the day on which it runs (part_of_today.h), as it takes minutes
};
void PrintTo(const LadderOn& on, std::ostream* out) { *out << on.chip; }
class Ladder : public ::testing::TestWithParam<LadderOn> {};

TEST_P(Ladder, StepsGainWhatWasPublished) {
  if (const auto part = part_of_today(); part && *part != GetParam().part) {
    GTEST_SKIP() << "runs each third day, or with ROOFWALK_PART=" << GetParam().part;
  }
  const fs::path folder = source_root() / "tests/fidelity";
  auto points = read_points(folder / "points/fitted/sgemm_ladder.csv");
  ASSERT_TRUE(points.ok()) << points.error().text();
  const bool is_own = points->front().chip == GetParam().chip;
  for (Point& point : *points) point.chip = GetParam().chip;
  const std::vector<PointError> errors = errors_of(*points);
  ASSERT_EQ(errors.size(), 7u);
  std::string table =
      "| step | published, GFLOP/s | here | off by | gain, published | here |\n|---|---:|---:|---:|---:|---:|\n";
  for (std::size_t i = 0; i < errors.size(); ++i) {
    const PointError& each = errors[i];
    table += fmt::format("| {} | {:.1f} | {:.0f} | {:.0f} % |", each.point.what, *each.point.published, each.value,
                         100 * (each.ratio() - 1));
    if (i == 0) {
      table += " | |\n";
      continue;
    }
    const double published = *each.point.published / *errors[i - 1].point.published;
    const double gain = each.value / errors[i - 1].value;
    EXPECT_NEAR(gain / published, 1, GetParam().tolerance) << each.point.what << ": x" << gain;
    EXPECT_GT(gain, 1) << each.point.what;
    table += fmt::format(" {:.2f} | {:.2f} |\n", published, gain);
  }
  if (is_own) roofwalk::testing::expect_golden(folder / "errors/sgemm_ladder.md", table);
}

INSTANTIATE_TEST_SUITE_P(Long, Ladder, ::testing::Values(LadderOn{"a6000", 0.25, 0}, LadderOn{"rtx4090", 0.30, 1}),
                         [](const auto& named) { return std::string(named.param.chip); });

}  // namespace
}  // namespace roofwalk::test
