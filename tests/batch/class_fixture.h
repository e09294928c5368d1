// A class on disk, and the real program to grade it with, in a course of its own.
#pragma once

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "common/base/child.h"
#include "common/base/rng.h"
#include "common/base/subprocess.h"
#include "grader/class/batch/grade_store.h"
#include "grader/class/batch/stored_grade.h"
#include "grader/course/course.h"
#include "tests/batch/class_generator.h"
#include "tests/support/boxes.h"
#include "tests/support/temporary_course.h"

namespace roofwalk::test {

namespace fs = std::filesystem;

// How many students a long test's class has: as many as ROOFWALK_CLASS says, for somebody who repeats it by hand.
inline std::size_t students_or(std::size_t usual) {
  const char* const wanted = std::getenv("ROOFWALK_CLASS");
  return wanted != nullptr ? std::stoul(wanted) : usual;
}

// If a test fails, its class stays on disk for inspection.
class ClassTest : public ::testing::Test {
 protected:
  // Where compiled kernels are kept. `own`: each test really compiles. `shared`: tests reuse each other's kernels,
  // which saves most of their processor time.
  enum class Compiled { own, shared };

  explicit ClassTest(Compiled compiled = Compiled::own)
      : compiled_(compiled),
        course_(TEST_SOURCE_DIR, compiled == Compiled::own ? own_cache() : fs::path(TEST_CACHE)),
        folder_(course_.root().string() + " class") {
    ::setenv("ROOFWALK_ROOT", course_.root().c_str(), 1);
    fs::create_directories(folder_);
  }

  // A cache for this process alone, except for the measured roofs, which all tests share.
  static fs::path own_cache() {
    const fs::path cache = fs::path(TEST_CACHE).parent_path() / ("class-cache-" + std::to_string(::getpid()));
    fs::create_directories(fs::path(TEST_CACHE) / "roofs");
    fs::create_directories(cache);
    fs::create_directory_symlink(fs::path(TEST_CACHE) / "roofs", cache / "roofs");
    return cache;
  }
  void forget_compiled() const { fs::remove_all(course_.root() / ".cache" / "artifacts"); }
  ~ClassTest() override {
    if (HasFailure()) return;  // keeps the files for inspection
    std::error_code error;
    if (compiled_ == Compiled::own) fs::remove_all(fs::canonical(course_.root() / ".cache", error), error);
    fs::remove_all(folder_, error);
  }

  void make(const ClassWanted& wanted) { make_class(folder_, TEST_SOURCE_DIR, wanted); }

  std::vector<std::string> arguments(const std::string& grades, int workers) const {
    std::vector<std::string> all = {TEST_PROGRAM,
                                    "grade",
                                    (folder_ / "submissions").string(),
                                    "--course",
                                    (folder_ / "course.toml").string(),
                                    "--grades",
                                    (folder_ / grades).string(),
                                    "--workers",
                                    std::to_string(workers)};
    if (!boxed_) all.emplace_back("--unsandboxed");
    return all;
  }

  CommandResult grade(const std::string& grades, int workers, std::vector<std::string> more = {}) {
    std::vector<std::string> all = arguments(grades, workers);
    all.insert(all.end(), more.begin(), more.end());
    const auto result = run_command({.arguments = all, .working_directory = folder_, .timeout_s = 3000});
    EXPECT_TRUE(result) << result.error().text();
    return result ? *result : CommandResult{};
  }

  // Starts grading, kills it after the time `after`, and returns whether it was still running then.
  bool start_and_kill(const std::string& grades, int workers, std::chrono::milliseconds after) {
    // The log helps to find the cause of a failure.
    const Descriptor output(::open((folder_ / "killed.log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
    const auto pid = start_child({.program = TEST_PROGRAM,
                                  .arguments = arguments(grades, workers),
                                  .environment = std::nullopt,
                                  .working_directory = folder_,
                                  .output = output.get()});
    EXPECT_TRUE(pid) << pid.error().text();
    if (!pid) return false;
    std::this_thread::sleep_for(after);
    const bool was_running = !has_ended(*pid);
    ::kill(*pid, SIGKILL);
    ::waitpid(*pid, nullptr, 0);
    return was_running;
  }

  std::map<std::string, std::string> results(const std::string& grades) const {
    std::map<std::string, std::string> texts;
    for (const auto& entry : fs::directory_iterator(folder_ / grades)) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with("gradebook.") || name == "junit.xml") texts[name] = file_text(entry.path());
    }
    return texts;
  }

  // Grades, but kills the program `kills` times at random moments and resumes it. Expects the same result files, byte
  // for byte, as from a run that was not killed.
  void expect_kills_change_nothing(int kills, int workers, double undisturbed_s) {
    const std::string grades = "killed" + std::to_string(workers);
    Rng rng(static_cast<std::uint64_t>(workers), "kills");
    // The longest time until a kill, chosen so that `kills` kills are spread over about one whole run. If a run ends
    // before its kill, its results are deleted and grading starts over.
    const double longest_s = 1.2 * undisturbed_s / kills;
    forget_compiled();
    int done = 0;
    for (int tries = 0; done < kills && tries < 4 * kills; ++tries) {
      const auto after = std::chrono::milliseconds(static_cast<int>(rng.uniform() * 1000 * longest_s));
      if (start_and_kill(grades, workers, after)) {
        ++done;
      } else {
        fs::remove_all(folder_ / grades);
      }
    }
    EXPECT_EQ(done, kills);
    const CommandResult end = grade(grades, workers);
    EXPECT_LE(end.exit_code, 1) << end.output;  // 1: the class holds files that are left out
    EXPECT_EQ(results(grades), results("undisturbed"));
    expect_nothing_twice(grades);
  }

  void expect_nothing_twice(const std::string& grades) {
    std::string told;
    auto store = GradeStore::open(folder_ / grades / "grades.db", told);
    ASSERT_TRUE(store) << store.error().text();
    EXPECT_EQ(told, "");
    EXPECT_TRUE(store->verify());
    std::set<std::string> keys;
    const auto grades_in_it = *store->grades();
    const auto submissions = *store->submissions();
    for (const StoredGrade& grade : grades_in_it) EXPECT_TRUE(keys.insert(grade.key).second) << grade.key;
    std::set<std::string> wanted;
    for (const Submission& s : submissions) wanted.insert(s.chapter + s.source_sha256);
    EXPECT_EQ(keys.size(), wanted.size());
    EXPECT_FALSE(fs::exists(folder_ / grades / "work"));
  }

  double undisturbed(int workers) {
    EXPECT_TRUE(run_command({.arguments = {TEST_PROGRAM, "roofs"}, .timeout_s = 300}));  // later calls reuse them
    const auto begin = std::chrono::steady_clock::now();
    const CommandResult result = grade("undisturbed", workers);
    EXPECT_LE(result.exit_code, 1) << result.output;
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

  const Compiled compiled_;
  const bool boxed_ = has_boxes();  // false in a container that allows no boxes
  const TemporaryCourse course_;
  const fs::path folder_;  // outside the course, where secrets must be
};

}  // namespace roofwalk::test
