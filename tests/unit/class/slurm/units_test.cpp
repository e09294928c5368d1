#include "grader/class/slurm/units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "common/base/hash.h"
#include "common/base/json.h"
#include "grader/course/course.h"
#include "tests/support/scratch_folder.h"

namespace roofwalk::test {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class UnitsTest : public ::testing::Test {
 protected:
  UnitsTest() { EXPECT_TRUE(folder_.make()); }

  void cut(const fs::path& file, std::size_t bytes) const { fs::resize_file(file, bytes); }

  const ScratchFolder temporary_;
  const UnitFolder folder_{temporary_.path() / "slurm"};
};

TEST_F(UnitsTest, OnlyTheUserReadsTheFolder) {
  EXPECT_EQ(fs::status(folder_.root()).permissions(), fs::perms::owner_all);
}

TEST_F(UnitsTest, ATasksUnitsComeBack) {
  const Unit unit{"key.1", "abc", "vector-add.cu", {{"chapter", "vector-add"}, {"seeds", {1, 2}}}};
  ASSERT_TRUE(folder_.write("roofwalk-1", 10, {unit, unit}));
  ASSERT_TRUE(folder_.write("roofwalk-1", 9, {unit}));
  EXPECT_THAT(folder_.arrays(), ElementsAre("roofwalk-1"));
  EXPECT_THAT(folder_.tasks("roofwalk-1"), ElementsAre(9u, 10u));
  const auto units = folder_.read("roofwalk-1", 10);
  ASSERT_TRUE(units) << units.error().text();
  ASSERT_EQ(units->size(), 2u);
  EXPECT_EQ(units->front().name, unit.name);
  EXPECT_EQ(units->front().file_name, unit.file_name);
  EXPECT_EQ(json_line(units->front().job), json_line(unit.job));
}

TEST_F(UnitsTest, AnAnswerOrAFaultComesBack) {
  EXPECT_FALSE(folder_.answer("key.1").has_value());
  ASSERT_TRUE(folder_.write_answer("key.1", Json{{"attempt", {{"verdict", "pass"}}}}));
  ASSERT_TRUE(folder_.write_answer("key.2", Error{.message = "the worker died by signal 9 (Killed)"}));
  EXPECT_THAT(folder_.answered(), ElementsAre("key.1", "key.2"));
  const auto answer = folder_.answer("key.1");
  ASSERT_TRUE(answer && answer->ok());
  EXPECT_EQ((**answer)["attempt"].text_of("verdict"), "pass");
  const auto fault = folder_.answer("key.2");
  ASSERT_TRUE(fault && !fault->ok());
  EXPECT_THAT(fault->error().text(), HasSubstr("signal 9"));
}

// A network file system may show a file before all its bytes; two nodes may write the same file.
TEST_F(UnitsTest, ATornAnswerIsNone) {
  ASSERT_TRUE(folder_.write_answer("key.1", Json{{"attempt", {{"verdict", "pass"}}}}));
  const auto file = folder_.result("key.1");
  const std::size_t bytes = fs::file_size(file);
  for (const std::size_t kept : {std::size_t{0}, std::size_t{10}, std::size_t{65}, bytes - 2}) {
    ASSERT_TRUE(folder_.write_answer("key.1", Json{{"attempt", {{"verdict", "pass"}}}}));
    cut(file, kept);
    EXPECT_FALSE(folder_.answer("key.1").has_value()) << kept;
  }
  ASSERT_TRUE(folder_.write_answer("key.1", Json{{"attempt", {{"verdict", "pass"}}}}));
  fs::rename(file, folder_.result("key.2"));  // an answer is about the unit that it names
  EXPECT_FALSE(folder_.answer("key.2").has_value());
}

// Whole JSON that is not what was written, as where a block of the file comes from another node's.
TEST_F(UnitsTest, AnAnswerThatIsNotItsHashesIsNone) {
  ASSERT_TRUE(folder_.write_answer("key.1", Json{{"attempt", {{"verdict", "fail"}}}}));
  std::string text = file_text(folder_.result("key.1"));
  const std::size_t at = text.find("fail");
  ASSERT_NE(at, std::string::npos);
  text.replace(at, 4, "pass");
  std::ofstream(folder_.result("key.1")) << text;
  EXPECT_FALSE(folder_.answer("key.1").has_value());
}

TEST_F(UnitsTest, DamagedUnitsAreATaskThatFails) {
  ASSERT_TRUE(folder_.write("roofwalk-1", 0, {Unit{"key.1", "abc", "vector-add.cu", Json::object()}}));
  cut(folder_.array("roofwalk-1") / "0.json", 80);
  const Status ran = run_task(folder_, "roofwalk-1", 0, "/bin/false", {});
  ASSERT_FALSE(ran);
  EXPECT_THAT(ran.error().text(), HasSubstr("0.json: the task's submissions cannot be read"));
}

TEST_F(UnitsTest, AFaultOfTheWorkerIsAnAnswerAndIsNotTriedAgain) {
  const std::string source = "__global__ void f() {}\n";
  const std::string sha256 = "4d1d";
  ASSERT_TRUE(folder_.write("roofwalk-1", 0, {Unit{"key.1", sha256, "vector-add.cu", Json::object()}}));
  std::ofstream(folder_.source(sha256)) << source;
  ASSERT_TRUE(run_task(folder_, "roofwalk-1", 0, "/bin/false", {}));
  const auto fault = folder_.answer("key.1");
  ASSERT_TRUE(fault && !fault->ok());
  EXPECT_THAT(fault->error().text(), HasSubstr("the submission's copy is damaged"));
  const std::string before = file_text(folder_.result("key.1"));
  ASSERT_TRUE(run_task(folder_, "roofwalk-1", 0, "/bin/false", {}));
  EXPECT_EQ(file_text(folder_.result("key.1")), before);
}

// A job may wait for days, and the program may be built anew meanwhile.
TEST_F(UnitsTest, NoOtherProgramGradesThanTheOneThatSubmitted) {
  const std::string source = "__global__ void f() {}\n", sha256 = sha256_hex(source);
  const fs::path program =
      temporary_.write("program", "#!/bin/sh\necho '{\"attempt\": {\"verdict\": \"pass\"}}' >&3\n");
  fs::permissions(program, fs::perms::owner_all);
  const auto unit = [&](const std::string& name, const std::string& program_sha256) {
    return Unit{name, sha256, "vector-add.cu", Json::object(), program_sha256};
  };
  ASSERT_TRUE(folder_.write("roofwalk-1", 0,
                            {unit("key.1", sha256_hex(file_text(program))), unit("key.2", sha256_hex("another"))}));
  std::ofstream(folder_.source(sha256)) << source;
  ASSERT_TRUE(run_task(folder_, "roofwalk-1", 0, program, {}));
  const auto same = folder_.answer("key.1"), other = folder_.answer("key.2");
  ASSERT_TRUE(same && same->ok()) << same->error().text();
  ASSERT_TRUE(other && !other->ok());
  EXPECT_THAT(other->error().text(), HasSubstr("this program is another one than submitted the job"));
}

}  // namespace
}  // namespace roofwalk::test
