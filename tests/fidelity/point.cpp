#include "tests/fidelity/point.h"

#include <fmt/format.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <map>
#include <numeric>
#include <set>

#include "common/base/hash.h"

namespace roofwalk::test {
namespace {

constexpr const char* kHeader = "source,chip,mechanism,what,kernel,defines,arguments,launches,amount,unit,published";

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> out = split(text, ' ');
  std::erase(out, "");
  return out;
}

template <class Number>
bool read_number(const std::string& text, Number& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

std::optional<PointArgument> argument_of(const std::string& text) {
  using Kind = PointArgument::Kind;
  const std::vector<std::string> parts = split(text, ':');
  PointArgument out;
  if (parts[0] == "zeros") {
    out.kind = Kind::zeros;
  } else if (parts[0] == "ones") {
    out.kind = Kind::ones;
  } else if (parts[0] == "chain") {
    out.kind = Kind::chain;
  } else if (parts[0] != "int") {
    return std::nullopt;
  }
  const std::size_t expected = out.kind == Kind::chain ? 3 : 2;
  if (parts.size() != expected || !read_number(parts[1], out.value)) return std::nullopt;
  if (out.kind == Kind::chain && !read_number(parts[2], out.pitch)) return std::nullopt;
  return out;
}

bool read_launches(const std::string& text, Point& out) {
  if (text == "all") return true;
  const std::vector<std::string> parts = split(text, '-');
  if (parts.size() > 2 || !read_number(parts[0], out.launch)) return false;
  return parts.size() == 1 || read_number(parts[1], out.less);
}

Result<Point> point_of(const std::string& line, const std::string& where) {
  const auto wrong = [&](const std::string& what) { return Error{.message = fmt::format("{}: {}", where, what)}; };
  const std::vector<std::string> fields = split(line, ',');
  if (fields.size() != split(kHeader, ',').size()) return wrong(fmt::format("it has {} fields", fields.size()));
  Point out;
  out.where = where;
  std::size_t at = 0;
  for (std::string* text : {&out.source, &out.chip, &out.mechanism, &out.what, &out.kernel}) *text = fields[at++];
  out.defines = words(fields[5]);
  for (const std::string& word : words(fields[6])) {
    const auto argument = argument_of(word);
    if (!argument) return wrong(fmt::format("`{}` is not an argument", word));
    out.arguments.push_back(*argument);
  }
  if (!read_launches(fields[7], out)) return wrong(fmt::format("`{}` are not launches", fields[7]));
  if (!read_number(fields[8], out.amount)) return wrong(fmt::format("`{}` is not an amount", fields[8]));
  out.unit = fields[9];
  if (!(value_of(out, 1, 1) > 0)) return wrong(fmt::format("`{}` is not a unit", out.unit));
  double published = 0;
  if (read_number(fields[10], published)) {
    out.published = published;
  } else if (!fields[10].empty()) {
    return wrong(fmt::format("`{}` is not a value", fields[10]));
  }
  return out;
}

}  // namespace

Result<std::vector<Point>> read_points(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string line;
  if (!std::getline(in, line) || line != kHeader) {
    return Error{.message = fmt::format("{}:1: a points file begins with `{}`", file.string(), kHeader)};
  }
  std::vector<Point> points;
  for (int number = 2; std::getline(in, line); ++number) {
    ROOFWALK_TRY(Point point, point_of(line, fmt::format("{}:{}", file.string(), number)));
    points.push_back(std::move(point));
  }
  return points;
}

std::vector<std::filesystem::path> points_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".csv") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

double value_of(const Point& point, double elapsed_ns, double clock_hz) {
  if (point.unit == "GB/s" || point.unit == "GFLOP/s") return point.amount / elapsed_ns;
  if (point.unit == "cycles") return elapsed_ns * clock_hz / 1e9 / point.amount;
  if (point.unit == "ns") return elapsed_ns / point.amount;
  if (point.unit == "us") return elapsed_ns / 1000 / point.amount;
  return 0;
}

namespace {

constexpr const char* kFiguresHeader = "chip,mechanism,what,unit,published,here";

std::string name_of(const Point& point) {
  return fmt::format("{},{},{},{},{:.6g}", point.chip, point.mechanism, point.what, point.unit, *point.published);
}

}  // namespace

std::string figures_of(const std::vector<PointError>& errors) {
  std::string text = std::string(kFiguresHeader) + "\n";
  for (const PointError& each : errors) text += fmt::format("{},{:.5g}\n", name_of(each.point), each.value);
  return text;
}

Result<std::vector<PointError>> read_figures(const std::filesystem::path& file, const std::vector<Point>& points) {
  std::map<std::string, double> values;
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  for (int number = 2; std::getline(in, line); ++number) {
    const auto comma = line.rfind(',');
    double value = 0;
    if (comma == std::string::npos || !read_number(line.substr(comma + 1), value))
      return Error{.message = fmt::format("{}:{}: it has no value", file.string(), number)};
    values[line.substr(0, comma)] = value;
  }
  std::vector<PointError> out;
  for (const Point& point : points) {
    const auto found = values.find(name_of(point));
    if (found == values.end())
      return Error{.message = fmt::format("{}: no line `{}` of {}", file.string(), name_of(point), point.where)};
    out.push_back({point, found->second});
    values.erase(found);
  }
  if (!values.empty())
    return Error{.message = fmt::format("{}: `{}` is of no point", file.string(), values.begin()->first)};
  return out;
}

std::vector<Point> part_of(const std::vector<Point>& points, std::uint64_t part, std::uint64_t parts) {
  std::vector<Point> out;
  for (const Point& point : points) {
    std::string runs = point.chip + point.kernel;
    for (const std::string& define : point.defines) runs += " " + define;
    for (const PointArgument& each : point.arguments)
      runs += fmt::format(" {}:{}:{}", static_cast<int>(each.kind), each.value, each.pitch);
    if (std::stoull(sha256_hex(runs).substr(0, 8), nullptr, 16) % parts == part) out.push_back(point);
  }
  return out;
}

double PointError::error() const { return std::abs(ratio() - 1); }

namespace {

bool is_worse(const PointError& a, const PointError& b) {
  return std::abs(std::log(a.ratio())) < std::abs(std::log(b.ratio()));
}

double mean_error(const std::vector<PointError>& errors) {
  double sum = 0;
  for (const PointError& each : errors) sum += each.error();
  return sum / static_cast<double>(errors.size());
}

std::vector<double> ranks_of(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (std::size_t i = 0; i < order.size(); ++i) ranks[order[i]] = static_cast<double>(i);
  return ranks;
}

double median_error(const std::vector<PointError>& errors) {
  std::vector<double> sorted;
  for (const PointError& each : errors) sorted.push_back(each.error());
  std::sort(sorted.begin(), sorted.end());
  return sorted[sorted.size() / 2];
}

// Spearman's coefficient.
double rank_correlation(const std::vector<PointError>& errors) {
  std::vector<double> published, values;
  for (const PointError& each : errors) {
    published.push_back(*each.point.published);
    values.push_back(each.value);
  }
  const std::vector<double> a = ranks_of(published), b = ranks_of(values);
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  const auto n = static_cast<double>(a.size());
  return n < 2 ? 1 : 1 - 6 * sum / (n * (n * n - 1));
}

}  // namespace

std::string table_of(const std::vector<PointError>& errors) {
  std::map<std::string, std::vector<PointError>> by_mechanism, by_unit;
  for (const PointError& each : errors) {
    by_mechanism[each.point.mechanism].push_back(each);
    by_unit[each.point.unit].push_back(each);
  }
  std::string text = "| mechanism | chips | points | mean error | worst: here / published |\n|---|---|---:|---:|---|\n";
  for (const auto& [mechanism, own] : by_mechanism) {
    std::set<std::string> chips;
    for (const PointError& each : own) chips.insert(each.point.chip);
    const PointError& worst = *std::max_element(own.begin(), own.end(), is_worse);
    text += fmt::format("| {} | {} | {} | {:.1f} % | {}, {}: {:.4g} / {:.4g} {} |\n", mechanism, fmt::join(chips, ", "),
                        own.size(), 100 * mean_error(own), worst.point.chip, worst.point.what, worst.value,
                        *worst.point.published, worst.point.unit);
  }
  const auto far = std::count_if(errors.begin(), errors.end(),
                                 [](const PointError& each) { return each.ratio() > 2 || each.ratio() < 0.5; });
  text += fmt::format("\n{} points: mean error {:.1f} %, median {:.1f} %; {} beyond a factor of two.\n", errors.size(),
                      100 * mean_error(errors), 100 * median_error(errors), far);
  for (const auto& [unit, own] : by_unit)
    text += fmt::format("Rank correlation in {}: {:.3f}.\n", unit, rank_correlation(own));
  return text;
}

std::string chips_and_farthest_of(const std::vector<PointError>& errors, std::size_t most) {
  std::map<std::string, std::vector<PointError>> by_chip;
  for (const PointError& each : errors) by_chip[each.point.chip].push_back(each);
  std::string text = "| chip | points | mean error | median |\n|---|---:|---:|---:|\n";
  for (const auto& [chip, own] : by_chip) {
    text += fmt::format("| {} | {} | {:.1f} % | {:.1f} % |\n", chip, own.size(), 100 * mean_error(own),
                        100 * median_error(own));
  }
  std::vector<PointError> farthest = errors;
  std::stable_sort(farthest.begin(), farthest.end(),
                   [](const PointError& a, const PointError& b) { return is_worse(b, a); });
  farthest.resize(std::min(most, farthest.size()));
  text +=
      fmt::format("\n| the {} farthest points | here | published | factor |\n|---|---:|---:|---:|\n", farthest.size());
  for (const PointError& each : farthest) {
    text += fmt::format("| {}, {}: {} | {:.4g} {} | {:.4g} | {:.2f} |\n", each.point.chip, each.point.mechanism,
                        each.point.what, each.value, each.point.unit, *each.point.published, each.ratio());
  }
  return text;
}

}  // namespace roofwalk::test
