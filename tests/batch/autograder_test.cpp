// Unpacks the autograder zip and runs it on one submission, as Gradescope does, also when something goes wrong.
#include "common/base/json.h"
#include "grader/class/hand_ins/archive.h"
#include "tests/batch/class_fixture.h"

namespace roofwalk::test {
namespace {

using ::testing::HasSubstr;

class AutograderTest : public ClassTest {
 protected:
  // Makes the zip and unpacks it as Gradescope does. `program` stands for the program that setup.sh would have built.
  void unpack(const std::string& program) {
    std::ofstream(folder_ / "secrets.toml") << "seeds = [7203685477580]\n";
    std::ofstream(folder_ / "course.toml")
        << "secrets = \"secrets.toml\"\nlate = { per_day = 0.5 }\n"
           "[[chapter]]\nname = \"vector-add\"\npoints = 10\ndeadline = 2020-01-01T00:00:00Z\n";
    const auto made =
        run_command({.arguments = {TEST_PROGRAM, "export", "autograder", "--course", (folder_ / "course.toml").string(),
                                   "--out", (folder_ / "a.zip").string()},
                     .working_directory = folder_,
                     .environment = {{"ROOFWALK_ROOT", TEST_SOURCE_DIR}, {"PATH", ::getenv("PATH")}}});
    ASSERT_TRUE(made);
    ASSERT_EQ(made->exit_code, 0) << made->output;
    EXPECT_THAT(made->output, HasSubstr("a.zip: vector-add; with hidden cases"));
    const auto zip = Archive::open(folder_ / "a.zip");
    ASSERT_TRUE(zip);
    std::size_t cost_bytes = 0;
    for (const ArchiveEntry& entry : zip->entries()) {
      const fs::path file = folder_ / "autograder/source" / entry.name;
      fs::create_directories(file.parent_path());
      std::ofstream(file, std::ios::binary) << *zip->read(entry, 10u << 20, cost_bytes);
    }
    const fs::path front = folder_ / "autograder/source/roofwalk/roofwalk";
    std::ofstream(front) << "#!/bin/bash\n" << program;
    for (const fs::path& file : {front, folder_ / "autograder/source/run_autograder"})
      fs::permissions(file, fs::perms::owner_all);
    fs::create_directories(folder_ / "autograder/submission");
    std::ofstream(folder_ / "autograder/submission_metadata.json")
        << R"({"id": 331, "created_at": "2019-12-31T23:59:59.5-00:00", "users": [{"id": 7, "name": "Ada", "email": "a@b.c"}]})";
  }
  void submit(const std::string& text) const { std::ofstream(folder_ / "autograder/submission/vector-add.cu") << text; }
  static std::string ace() {
    return file_text(fs::path(TEST_SOURCE_DIR) / "solutions/01-vector-add/step2_four_at_a_time.cu");
  }
  Json run() {
    const auto result = run_command({.arguments = {(folder_ / "autograder/source/run_autograder").string()},
                                     .environment = {{"AUTOGRADER", folder_ / "autograder"},
                                                     {"PATH", ::getenv("PATH")},
                                                     {"ROOFWALK_ROOT", course_.root()},
                                                     {"HOME", folder_}},
                                     .timeout_s = 300});
    EXPECT_TRUE(result);
    log_ = result ? result->output : "";
    return parse_json(file_text(folder_ / "autograder/results/results.json"));
  }
  std::string log_;
};

TEST_F(AutograderTest, GradesOneSubmissionAndTheNext) {
  unpack("exec '" TEST_PROGRAM "' \"$@\"\n");
  submit(ace());
  for (int run_number = 1; run_number <= 2; ++run_number) {
    const Json results = run();
    ASSERT_TRUE(results.is_object()) << log_;
    EXPECT_EQ(results["score"], 10) << results << log_;  // the metadata's time counts
    EXPECT_EQ(results["tests"][0]["status"], "passed");
    EXPECT_THAT(log_, HasSubstr("Ada (a@b.c)"));
    EXPECT_EQ(log_.find("7203685477580"), std::string::npos);
    EXPECT_EQ(file_text(folder_ / "autograder/source/secrets.toml"), "seeds = [7203685477580]\n");
  }
  // Without the secrets, nothing may be graded: the hidden cases would be missing.
  fs::remove(folder_ / "autograder/source/secrets.toml");
  EXPECT_THAT(run()["output"].get<std::string>(), HasSubstr("a fault of the grader"));
  EXPECT_THAT(log_, HasSubstr("the hidden cases are gone"));
}

TEST_F(AutograderTest, HiddenSizesThatGradeRefusesAreRefusedHere) {
  std::ofstream(folder_ / "secrets.toml") << "[sizes.vector-add]\nn = [77, 1048577]\n";
  std::ofstream(folder_ / "course.toml") << "secrets = \"secrets.toml\"\n[[chapter]]\nname = \"vector-add\"\n";
  const auto refused =
      run_command({.arguments = {TEST_PROGRAM, "export", "autograder", "--course", (folder_ / "course.toml").string(),
                                 "--out", (folder_ / "a.zip").string()},
                   .working_directory = folder_});
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->exit_code, 2) << refused->output;
  EXPECT_THAT(refused->output, HasSubstr("secrets.toml:1: hidden size 2 of vector-add "));
  EXPECT_FALSE(fs::exists(folder_ / "a.zip"));
}

TEST_F(AutograderTest, NoCompilerReadsTheSecrets) {
  unpack("exec '" TEST_PROGRAM "' \"$@\"\n");
  submit("#if __has_include(\"" + (folder_ / "autograder/source/secrets.toml").string() + "\")\n" +
         "#error the secrets can be read\n#endif\n" + ace());
  const Json results = run();
  ASSERT_TRUE(results.is_object()) << log_;
  EXPECT_EQ(results["score"], 10) << results << log_;
  EXPECT_TRUE(fs::exists(folder_ / "autograder/source/secrets.toml"));
}

TEST_F(AutograderTest, AFileThatTellsNoChapterIsNamed) {
  unpack("exec '" TEST_PROGRAM "' \"$@\"\n");
  std::ofstream(folder_ / "autograder/submission/vector-add.cu.txt") << ace();
  EXPECT_THAT(run()["tests"][0]["output"].get<std::string>(), HasSubstr("holds vector-add.cu.txt"));
}

TEST_F(AutograderTest, AnEmptySubmissionIsToldSo) {
  unpack("exec '" TEST_PROGRAM "' \"$@\"\n");
  const Json results = run();
  ASSERT_TRUE(results.is_object()) << log_;
  EXPECT_EQ(results["score"], 0) << log_;
  EXPECT_THAT(results["tests"][0]["output"].get<std::string>(), HasSubstr("Nothing was handed in: vector-add.cu"));
}

TEST_F(AutograderTest, AGraderThatFailsSaysThatItIsItsOwnFault) {
  unpack("exit 3\n");
  const Json results = run();
  ASSERT_TRUE(results.is_object()) << log_;
  EXPECT_THAT(results["output"].get<std::string>(), HasSubstr("a fault of the grader, not of your kernel"));
}

}  // namespace
}  // namespace roofwalk::test
