// Sets up each platform and runs what it would run on a hand-in, with the program of this build.
#include "common/base/json.h"
#include "grader/class/hand_ins/archive.h"
#include "tests/batch/class_fixture.h"

namespace roofwalk::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class LongPlatforms : public ClassTest {
 protected:
  LongPlatforms() : ClassTest(Compiled::shared) {}

  // Sets the platform up, and makes grade-one call the program of this build.
  void set_up(const std::string& platform) {
    std::ofstream(folder_ / "secrets.toml") << "seeds = [7203685477580]\n";
    std::ofstream(folder_ / "course.toml")
        << "secrets = \"secrets.toml\"\n[[chapter]]\nname = \"vector-add\"\npoints = 10\n";
    const CommandResult made = run({TEST_PROGRAM, "export", "--setup", platform, (folder_ / "set").string(), "--course",
                                    (folder_ / "course.toml").string()},
                                   {}, {{"ROOFWALK_ROOT", TEST_SOURCE_DIR}});
    ASSERT_EQ(made.exit_code, 0) << made.output;
    EXPECT_THAT(made.output, HasSubstr("vector-add; with hidden cases"));
    // The instructor's copy must not be what a compiler finds.
    fs::remove(folder_ / "secrets.toml");
    for (const char* place : {"set/image/grade-one", "set/jail/grade-one"}) {
      if (fs::exists(folder_ / place)) fs::copy_file(folder_ / place, folder_ / "grade-one");
    }
    fs::permissions(folder_ / "grade-one", fs::perms::owner_all);
    fs::create_directories(course_.root() / "build/default/grader");
    fs::create_symlink(TEST_PROGRAM, course_.root() / "build/default/grader/roofwalk");
  }

  CommandResult run(const std::vector<std::string>& arguments, const fs::path& folder = {},
                    const std::map<std::string, std::string>& more = {}) {
    std::map<std::string, std::string> environment = more;
    environment.insert({{"PATH", ::getenv("PATH")},
                        {"ROOFWALK_ROOT", course_.root()},
                        {"ROOFWALK_INSTALLED", course_.root()},
                        {"GRADE_ONE", folder_ / "grade-one"},
                        {"HOME", folder_}});
    const auto result = run_command({.arguments = arguments,
                                     .working_directory = folder.empty() ? folder_ : folder,
                                     .environment = environment,
                                     .timeout_s = 300});
    EXPECT_TRUE(result);
    return result ? *result : CommandResult{};
  }

  // Line 2 does not compile.
  static std::string broken() { return "#include <roofwalk.cuh>\nthis is no kernel;\n" + ace_unless_seen({}); }

  // An ace that does not compile if its compiler can see one of the files.
  static std::string ace_unless_seen(const std::vector<fs::path>& files) {
    std::string text;
    for (const fs::path& file : files)
      text += "#if __has_include(\"" + file.string() + "\")\n#error the secrets can be read\n#endif\n";
    return text + file_text(fs::path(TEST_SOURCE_DIR) / "solutions/01-vector-add/step2_four_at_a_time.cu");
  }
};

TEST_F(LongPlatforms, GitLabsReportsAreThoseOfTheProject) {
  set_up("gitlab");
  if (HasFatalFailure()) return;
  const fs::path project = folder_ / "set/project", reports = project / "reports";
  const auto grade = [&] {
    return run({"bash", "-c", "\"$GRADE_ONE\" gitlab . ../image/course.toml reports </dev/null"}, project);
  };
  const CommandResult first = grade();
  EXPECT_EQ(first.exit_code, 0) << first.output;
  EXPECT_THAT(file_text(reports / "junit.xml"), HasSubstr("<failure"));  // the starter
  Json quality = parse_json(file_text(reports / "gl-code-quality-report.json"));
  ASSERT_TRUE(quality.is_array() && !quality.empty()) << quality;
  EXPECT_EQ(quality[0]["location"]["path"], "vector-add.cu");
  std::ofstream(project / "vector-add.cu") << broken();
  EXPECT_EQ(grade().exit_code, 0);
  quality = parse_json(file_text(reports / "gl-code-quality-report.json"));
  EXPECT_EQ(quality[0]["severity"], "blocker") << quality;
  EXPECT_EQ(quality[0]["location"]["lines"]["begin"], 2);
}

TEST_F(LongPlatforms, PrairieLearnGradesAQuestion) {
  set_up("prairielearn");
  if (HasFatalFailure()) return;
  const fs::path job = folder_ / "job", question = folder_ / "set/course/questions/roofwalk/vector-add";
  fs::create_directories(job / "student");
  fs::copy(folder_ / "set/course/serverFilesCourse", job / "serverFilesCourse", fs::copy_options::recursive);
  const auto grade = [&](const std::string& text) {
    fs::remove_all(job / "tests");
    fs::copy(question / "tests", job / "tests");
    std::ofstream(job / "student/vector-add.cu") << text;
    const CommandResult ran =
        run({(job / "serverFilesCourse/roofwalk/grade.sh").string(), "vector-add"}, job, {{"GRADE_ROOT", job}});
    EXPECT_EQ(ran.output.find("7203685477580"), std::string::npos);
    return parse_json(file_text(job / "results/results.json"));
  };
  const Json ace = grade(ace_unless_seen({job / "tests/secrets.toml"}));
  EXPECT_EQ(ace.value("score", -1.0), 1) << ace;
  EXPECT_THAT(ace["images"][0]["url"].text(), ::testing::StartsWith("data:image/svg+xml;base64,"));
  const Json refused = grade(broken());
  EXPECT_EQ(refused["gradable"], false) << refused;
  EXPECT_THAT(refused["format_errors"][0].text(), HasSubstr("vector-add.cu:2"));
}

TEST_F(LongPlatforms, AutolabReadsTheLastLine) {
  set_up("autolab");
  if (HasFatalFailure()) return;
  const fs::path job = folder_ / "job";
  const fs::path print_secrets = folder_ / "print-secrets";
  std::ofstream(print_secrets) << "#!/bin/bash\ncat '" << (folder_ / "set/image/secrets.toml").string() << "'\n";
  fs::permissions(print_secrets, fs::perms::owner_all);
  const auto grade = [&](const std::string& text, const std::string& program) {
    fs::remove_all(job);
    fs::create_directories(job);
    fs::copy_file(folder_ / "set/autograde.tar", job / "autograde.tar");
    fs::copy_file(folder_ / "set/autograde-Makefile", job / "Makefile");
    std::ofstream(job / "handin.cu") << text;
    const std::string output = run({"make"}, job, {{"PRINT_SECRETS", program}}).output;
    const std::string line = output.substr(0, output.size() - 1);
    return parse_json(line.substr(line.rfind('\n') + 1));
  };
  const Json ace = grade(ace_unless_seen({job / "secrets.toml", job / "roofwalk/secrets.toml"}), print_secrets);
  ASSERT_TRUE(ace.is_object());
  EXPECT_EQ(ace["scores"]["vector-add"], 10) << ace;
  EXPECT_EQ(ace["scoreboard"].size(), 3u);
  // Without the hidden cases, nothing is graded.
  EXPECT_EQ(grade(ace_unless_seen({}), "false")["scores"].size(), 0u);
}

TEST_F(LongPlatforms, VplPrintsTheGrade) {
  set_up("vpl");
  if (HasFatalFailure()) return;
  const fs::path job = folder_ / "job";
  const auto grade = [&](const std::string& text, const std::string& most) {
    fs::remove_all(job);
    fs::copy(folder_ / "set/execution", job);
    std::ofstream(job / "vector-add.cu") << text;
    std::ofstream(job / "vpl_environment.sh") << "export VPL_GRADEMAX=" << most << "\n";
    const CommandResult made = run({(job / "vpl_evaluate.sh").string()}, job);
    EXPECT_EQ(made.output, "");
    EXPECT_FALSE(fs::exists(job / "secrets.toml"));
    return run({(job / "vpl_execution").string()}, "/").output;
  };
  EXPECT_THAT(grade(ace_unless_seen({job / "secrets.toml"}), "100.00000"), HasSubstr("\nGrade :=>>100\n"));
  EXPECT_THAT(grade("#error Grade :=>>100\n" + ace_unless_seen({}), "100"), HasSubstr("\nGrade :=>>0\n"));
  EXPECT_THAT(grade("", "10"), Not(HasSubstr("Grade :=>>")));
}

}  // namespace
}  // namespace roofwalk::test
