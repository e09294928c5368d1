// A class of ten thousand: that many answers come at once, and what a core grades in an hour.
#include <fmt/format.h>
#include <sys/resource.h>

#include <atomic>

#include "common/base/hash.h"
#include "common/base/json.h"
#include "grader/class/batch/batch.h"
#include "grader/class/batch/grading.h"
#include "grader/class/slurm/slurm_executor.h"
#include "grader/class/slurm/units.h"
#include "tests/batch/class_fixture.h"

namespace roofwalk::test {
namespace {

constexpr std::size_t kAnswers = 10'000, kPerTask = 8;

std::string key_of(std::size_t i) { return sha256_hex(fmt::format("submission {}", i)); }
std::string unit_of(std::size_t i) { return key_of(i) + ".1"; }

// The answer to one submission: no two are the same, and each is about as long as a small one of a worker.
Json answer_of(std::size_t i, const std::string& source_sha256) {
  return {{"schema", "roofwalk.grade/1"},
          {"file_sha256", source_sha256},
          {"attempt", {{"verdict", "pass"}, {"grade", "ace"}, {"source_sha256", source_sha256}, {"number", i}}},
          {"scales", Json::array()},
          {"plot", fmt::format("<svg>{}</svg>", std::string(1500, 'p'))},
          {"profile", fmt::format("<html>{} {}</html>", i, std::string(1500, 'q'))}};
}

class TenThousandTest : public ClassTest {
 protected:
  TenThousandTest() : ClassTest(Compiled::shared) {
    // A Slurm that takes every job, and in whose queue nothing stays.
    for (const char* const command : {"sbatch", "squeue", "scancel"}) {
      const fs::path file = slurm_ / command;
      fs::create_directories(slurm_);
      std::ofstream(file) << "#!/bin/sh\ncase $0 in *sbatch) echo 1 ;; esac\n";
      fs::permissions(file, fs::perms::owner_all);
    }
    ::setenv("PATH", (slurm_.string() + ":" + path_before_).c_str(), 1);
  }
  ~TenThousandTest() override { ::setenv("PATH", path_before_.c_str(), 1); }

  // As nodes leave them, of which some were killed. In every hundred: one answer is cut, one is missing, one is
  // another's under a wrong name, one has a block of another's in it, and one has come twice, under a name of its own
  // as well.
  void leave_answers(const UnitFolder& folder, const std::string& source_sha256) const {
    const auto write = [&](const std::string& name, const std::string& bytes) {
      std::ofstream(folder.root() / "results" / name, std::ios::binary) << bytes;
    };
    const auto sealed = [&](std::size_t i) {
      const std::string text = json_line({{"schema", "roofwalk.unit_answer/1"},
                                          {"unit", unit_of(i)},
                                          {"node", "node1"},
                                          {"answer", answer_of(i, source_sha256)}});
      return sha256_hex(text) + "\n" + text;
    };
    for (std::size_t i = 0; i < kAnswers; ++i) {
      const std::string whole = sealed(i), name = unit_of(i) + ".json";
      switch (i % 100) {
        case 0:
          write(name, whole.substr(0, i % whole.size()));
          break;
        case 1:
          break;
        case 2:
          write(name, sealed(i + 1));
          break;
        case 3: {
          std::string mixed = whole;
          mixed.replace(mixed.size() / 2, 100, 100, 'x');
          write(name, mixed);
          break;
        }
        case 4:
          write(name + ".new-4711", whole.substr(0, 500));
          write("of-last-year." + name, whole);
          [[fallthrough]];
        default:
          write(name, whole);
      }
    }
  }

  const fs::path slurm_ = folder_ / "slurm commands";
  const std::string path_before_ = std::getenv("PATH");
};

TEST_F(TenThousandTest, LongAnswersAtOnceAreEachTakenOnce) {
  std::ofstream(folder_ / "course.toml") << "[[chapter]]\nname = \"vector-add\"\n";
  const fs::path before = fs::current_path();
  fs::current_path(course_.root());
  const Course course = *open_course({});
  Batch batch = *Batch::open(course, {.course_file = folder_ / "course.toml", .folder = folder_ / "grades"});
  const std::string source = "// one file stands for all\n", source_sha256 = sha256_hex(source);
  ASSERT_TRUE(batch.keep_source(source_sha256, source));
  Backlog backlog;
  for (std::size_t i = 0; i < kAnswers; ++i) backlog.tasks.push_back({key_of(i), "vector-add", source_sha256});
  const std::map<std::string, JobTerms> terms = {
      {"vector-add", {**course.find("vector-add"), {}, "virtual:classroom", {}, {}}}};
  const std::function<void(const GradeProgress&)> told = [](const GradeProgress&) {};
  Grading grading(batch, terms, backlog, told);
  SlurmOptions options;
  options.folder = folder_ / "shared";
  options.program = TEST_PROGRAM;
  options.course = course_.root();
  options.per_task = kPerTask;
  options.poll_s = 1;
  options.grace_s = 2;
  const UnitFolder folder(options.folder);
  ASSERT_TRUE(folder.make());
  leave_answers(folder, source_sha256);

  // The nodes: whatever is submitted again, each as a task of its own, gets its answer, and gets it twice.
  std::map<std::string, std::size_t> numbers;
  for (std::size_t i = 0; i < kAnswers; ++i) numbers[unit_of(i)] = i;
  std::atomic<bool> ends = false;
  std::jthread nodes([&] {
    std::set<std::string> seen;
    while (!ends) {
      for (const std::string& name : folder.arrays()) {
        if (!fs::exists(folder.array(name) / "script.sh") || !seen.insert(name).second) continue;
        for (const std::size_t task : folder.tasks(name)) {
          const auto units = folder.read(name, task);
          if (!units || units->size() != 1) continue;
          const std::string& unit = units->front().name;
          for (int times = 0; times < 2; ++times) {
            // The collector may have all answers, and remove the folder, before the last of them comes again.
            [[maybe_unused]] const Status ignored =
                folder.write_answer(unit, answer_of(numbers.at(unit), source_sha256));
          }
        }
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  });
  const auto begin = std::chrono::steady_clock::now();
  const Status graded = grade_by_slurm(grading, options);
  const double elapsed_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  ends = true;
  nodes.join();
  fs::current_path(before);
  ASSERT_TRUE(graded) << graded.error().text();
  std::printf("%zu answers at once: %.1f s until all are in the record, %.0f kB of it an answer\n", kAnswers, elapsed_s,
              1e-3 * static_cast<double>(fs::file_size(folder_ / "grades/grades.db")) / kAnswers);
  EXPECT_EQ(grading.summary().graded, kAnswers);
  EXPECT_EQ(grading.summary().faults, 0u);
  EXPECT_TRUE(batch.store().verify());
  EXPECT_TRUE(batch.store().faults()->empty());
  std::set<std::string> keys;
  const auto grades = *batch.store().grades();
  ASSERT_EQ(grades.size(), kAnswers);
  for (const StoredGrade& grade : grades) {
    EXPECT_TRUE(keys.insert(grade.key).second) << grade.key;
    const std::size_t number = numbers.at(grade.key + ".1");
    EXPECT_EQ(grade.result["attempt"]["number"].get<std::size_t>(), number);  // nobody has another's grade
  }
}

// Processor time, because that repeats on a busy machine, and a large class is graded on many cores.
TEST_F(ClassTest, LongWhatACoreGradesInAnHour) {
  const std::size_t students = students_or(60);
  make({.students = students});
  EXPECT_TRUE(run_command({.arguments = {TEST_PROGRAM, "roofs"}, .timeout_s = 300}));
  const auto processor_s = [] {
    rusage used{};
    ::getrusage(RUSAGE_CHILDREN, &used);
    return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           1e-6 * static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
  };
  const double before_s = processor_s();
  const CommandResult result = grade("grades", 1);
  const double grading_s = processor_s() - before_s;
  EXPECT_LE(result.exit_code, 1) << result.output;
  std::string told;
  auto store = GradeStore::open(folder_ / "grades/grades.db", told);
  ASSERT_TRUE(store);
  const std::size_t graded = store->grades()->size();
  ASSERT_GT(graded, 0u);
  const auto count = static_cast<double>(graded);
  const double before_report_s = processor_s();
  EXPECT_TRUE(run_command({.arguments = {TEST_PROGRAM, "report", "--course", (folder_ / "course.toml").string(),
                                         "--grades", (folder_ / "grades").string()},
                           .working_directory = folder_,
                           .timeout_s = 3000}));
  std::size_t pages = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder_ / "grades/report")) {
    pages += entry.is_regular_file() ? 1 : 0;
  }
  std::printf(
      "%zu students, %zu submissions graded: %.2f s of processor time each, %.0f an hour on a core; report: %.2f s, "
      "%zu "
      "pages; record: %.0f kB a submission\n",
      students, graded, grading_s / count, 3600 * count / grading_s, processor_s() - before_report_s, pages,
      1e-3 * static_cast<double>(fs::file_size(folder_ / "grades/grades.db")) / count);
  EXPECT_GT(3600 * count / grading_s, 500);
}

}  // namespace
}  // namespace roofwalk::test
