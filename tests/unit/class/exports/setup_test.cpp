// What `export --setup` writes: the files of each platform, and where the hidden cases are and are not.
#include "grader/class/exports/platforms/setup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "common/base/json.h"
#include "common/base/pattern.h"
#include "common/base/subprocess.h"
#include "grader/class/exports/platforms/tar.h"
#include "tests/support/scratch_folder.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Not;

using Files = std::map<std::string, std::string>;

class SetupTest : public ::testing::Test {
 protected:
  SetupTest() : course_(*open_course(TEST_SOURCE_DIR)) {
    folder_.write("s.toml", "seeds = [7203685477580]\n");
    course_file_ = folder_.write(
        "course.toml", "title = \"x\"\nsecrets = \"s.toml\"\n[[chapter]]\nname = \"vector-add\"\npoints = 10\n");
    terms_ = *read_terms(course_file_, course_, TEST_SOURCE_DIR);
  }

  // The files but those of the course itself.
  Files files_of(const std::string& platform) {
    Files files;
    const auto made = find_setup(platform)->files({course_, terms_, course_file_});
    EXPECT_TRUE(made) << made.error().text();
    if (!made) return files;
    for (const ArchiveFile& file : *made) {
      EXPECT_FALSE(file.name.starts_with("/") || file.name.find("..") != std::string::npos) << file.name;
      EXPECT_THAT(file.name, Not(HasSubstr("solutions")));
      has_course_ = has_course_ || file.name.ends_with("roofwalk/chapters/01-vector-add/kernel.cu");
      if (file.name.find("roofwalk/") != std::string::npos && !file.name.starts_with("course/")) continue;
      EXPECT_EQ(file.bytes.find('\r'), std::string::npos) << file.name;
      EXPECT_EQ(file.bytes.starts_with("#!"), file.is_program) << file.name;
      files[file.name] = file.bytes;
    }
    return files;
  }

  // The files in which the seed stands.
  static std::vector<std::string> with_secrets(const Files& files) {
    std::vector<std::string> names;
    for (const auto& [name, text] : files) {
      if (text.find("7203685477580") != std::string::npos) names.push_back(name);
    }
    return names;
  }

  const test::ScratchFolder folder_;
  const Course course_;
  fs::path course_file_;
  CourseTerms terms_;
  bool has_course_ = false;
};

TEST_F(SetupTest, GitLabHasNoSecretAtAll) {
  const Files files = files_of("gitlab");
  EXPECT_TRUE(has_course_);
  EXPECT_THAT(with_secrets(files), IsEmpty());
  EXPECT_THAT(files.at("image/course.toml"), Not(HasSubstr("secrets")));
  const std::string pipeline = files.at("project/.gitlab-ci.yml");
  for (const char* part : {"\n  image: ", "\n  script:\n", "\n    reports:\n      junit: reports/junit.xml\n",
                           "      codequality: reports/gl-code-quality-report.json\n", "merge_request_event"}) {
    EXPECT_THAT(pipeline, HasSubstr(part));
  }
  EXPECT_EQ(pipeline.find('\t'), std::string::npos);
  EXPECT_THAT(files, Contains(Key("project/vector-add.cu")));
}

std::vector<std::string> question_rules_broken_by(const Json& info) {
  std::vector<std::string> broken;
  static const Pattern uuid("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}");
  if (!uuid.match(info.text_of("uuid"))) broken.emplace_back("a uuid");
  for (const char* key : {"title", "topic"}) {
    if (info.text_of(key).empty()) broken.push_back(std::string("has a ") + key);
  }
  if (info.text_of("type") != "v3") broken.emplace_back("is of type v3");
  if (info.text_of("gradingMethod") != "External") broken.emplace_back("is graded externally");
  const Json options = info.value("externalGradingOptions", Json::object());
  if (!options.value("enabled", false)) broken.emplace_back("external grading is on");
  if (options.text_of("image").empty()) broken.emplace_back("has an image");
  if (!options.text_of("entrypoint").starts_with("/grade/")) broken.emplace_back("an entry point is absolute");
  const double timeout = options.number_of("timeout").value_or(30);
  if (timeout <= 0 || timeout > 600) broken.emplace_back("a timeout of at most 600 s");
  if (const Json* files = options.member("serverFilesCourse"); files == nullptr || !files->is_array())
    broken.emplace_back("server files are a list");
  return broken;
}

TEST_F(SetupTest, PrairieLearnHasAQuestionPerChapter) {
  const Files files = files_of("prairielearn");
  EXPECT_TRUE(has_course_);
  EXPECT_THAT(with_secrets(files), ElementsAre("course/questions/roofwalk/vector-add/tests/secrets.toml"));
  const std::string question = "course/questions/roofwalk/vector-add/";
  const Json info = parse_json(files.at(question + "info.json"));
  EXPECT_THAT(question_rules_broken_by(info), IsEmpty()) << info;
  EXPECT_THAT(files.at(question + "question.html"), HasSubstr("<pl-external-grader-results>"));
  EXPECT_THAT(files, Contains(Key(question + "clientFilesQuestion/vector-add.cu")));
  EXPECT_THAT(files, Contains(Key("course/serverFilesCourse/roofwalk/grade.sh")));
  const auto broken = [&](auto change) {
    Json copy = info;
    change(copy);
    return question_rules_broken_by(copy);
  };
  EXPECT_THAT(broken([](Json& j) { j["uuid"] = "7"; }), Contains("a uuid"));
  EXPECT_THAT(broken([](Json& j) { j.erase("title"); }), Contains("has a title"));
  EXPECT_THAT(broken([](Json& j) { j.erase("topic"); }), Contains("has a topic"));
  EXPECT_THAT(broken([](Json& j) { j["type"] = "v2"; }), Contains("is of type v3"));
  EXPECT_THAT(broken([](Json& j) { j.erase("gradingMethod"); }), Contains("is graded externally"));
  EXPECT_THAT(broken([](Json& j) { j["externalGradingOptions"]["enabled"] = false; }),
              Contains("external grading is on"));
  EXPECT_THAT(broken([](Json& j) { j["externalGradingOptions"].erase("image"); }), Contains("has an image"));
  EXPECT_THAT(broken([](Json& j) { j["externalGradingOptions"]["entrypoint"] = "grade.sh"; }),
              Contains("an entry point is absolute"));
  EXPECT_THAT(broken([](Json& j) { j["externalGradingOptions"]["timeout"] = 601; }),
              Contains("a timeout of at most 600 s"));
  EXPECT_THAT(broken([](Json& j) { j["externalGradingOptions"]["serverFilesCourse"] = "roofwalk/"; }),
              Contains("server files are a list"));
}

TEST_F(SetupTest, AutolabHasTheSecretsInTheImageAlone) {
  const Files files = files_of("autolab");
  EXPECT_TRUE(has_course_);
  // Every user of a job's container can read the tar.
  EXPECT_THAT(with_secrets(files), ElementsAre("image/secrets.toml"));
  EXPECT_THAT(files.at("image/Dockerfile"), HasSubstr("chmod 600 /etc/roofwalk/secrets.toml"));
  EXPECT_THAT(files.at("autograde-Makefile"), ::testing::StartsWith("all:\n\t@"));
  const fs::path tar = folder_.write("autograde.tar", files.at("autograde.tar"));
  const auto listed = run_command({.arguments = {"tar", "tvf", tar.string()}});
  ASSERT_TRUE(listed);
  EXPECT_EQ(listed->exit_code, 0) << listed->output;
  EXPECT_THAT(listed->output, HasSubstr("-rwxr-xr-x"));
  EXPECT_THAT(listed->output, HasSubstr("roofwalk/grade.sh\n"));
  EXPECT_THAT(listed->output, HasSubstr("roofwalk/course.toml\n"));
}

TEST_F(SetupTest, VplHasTheSecretsAmongTheExecutionFiles) {
  const Files files = files_of("vpl");
  EXPECT_TRUE(has_course_);
  EXPECT_THAT(with_secrets(files), ElementsAre("execution/secrets.toml"));
  EXPECT_THAT(files.at("execution/vpl_evaluate.sh"), HasSubstr("has_secrets=1\n"));
  EXPECT_THAT(files, Contains(Key("jail/install.sh")));
}

// Where the activity has no hidden cases, a student's file of that name is none.
TEST_F(SetupTest, VplTakesNoStudentsFileForTheHiddenCases) {
  for (const bool has_secrets : {true, false}) {
    if (!has_secrets) terms_.secrets_file.clear();
    const test::ScratchFolder job;
    job.write("vpl_evaluate.sh", files_of("vpl").at("execution/vpl_evaluate.sh"));
    job.write("secrets.toml", "seeds = [1]\n");
    job.write("vector-add.cu", "// by a student\n");
    fs::permissions(job.write("grade-one", "#!/bin/bash\n{ cat; ls; ls \"$2\"; } >\"$4\"\n"), fs::perms::owner_all);
    const auto ran = run_command({.arguments = {"bash", "-c", "bash vpl_evaluate.sh && ./vpl_execution"},
                                  .working_directory = job.path(),
                                  .environment = {{"PATH", "/usr/bin:/bin"}, {"GRADE_ONE", job.path() / "grade-one"}}});
    ASSERT_TRUE(ran) << ran.error().text();
    EXPECT_EQ(ran->output.find("seeds = [1]") != std::string::npos, has_secrets) << ran->output;
    EXPECT_THAT(ran->output, Not(HasSubstr("secrets.toml")));
    EXPECT_THAT(ran->output, ::testing::EndsWith("\nvector-add.cu\n"));
  }
}

// A hand-in may hold folders that could be several students', and is one student's all the same.
TEST(GradeOne, TakesAllOfTheFolderForOneHandIn) {
  const test::ScratchFolder folder;
  const fs::path program = folder.write("installed/build/default/grader/roofwalk", R"sh(#!/bin/bash
echo "$1 ${2##*/} $3" >>"$LOG"
if [[ $1 == grade ]]; then (cd "$2" && find . -type f | sort >>"$LOG"); fi
if [[ $1 == export ]]; then echo done >"${@: -1}"; fi
)sh");
  fs::permissions(program, fs::perms::owner_all);
  fs::create_directories(folder.path() / "installed/.cache");
  for (const char* const file : {"vector-add.cu", "bob/vector-add.cu", "old/vector-add.cu", ".git/vector-add.cu"})
    folder.write(fs::path("hand-in") / file, "//\n");
  folder.write("course.toml", "");
  folder.write("grade-one", grade_one_script());
  const auto ran = run_command({.arguments = {"bash", "-c", "bash grade-one vpl hand-in course.toml result </dev/null"},
                                .working_directory = folder.path(),
                                .environment = {{"PATH", "/usr/bin:/bin"},
                                                {"LOG", folder.path() / "log"},
                                                {"ROOFWALK_INSTALLED", folder.path() / "installed"}}});
  ASSERT_TRUE(ran) << ran.error().text();
  EXPECT_EQ(ran->exit_code, 0) << ran->output;
  EXPECT_EQ(file_text(folder.path() / "result"), "done\n");
  EXPECT_EQ(
      file_text(folder.path() / "log"),
      "grade submission --each\n./bob/vector-add.cu\n./old/vector-add.cu\n./vector-add.cu\nexport vpl --course\n");
}

TEST_F(SetupTest, AFolderThatHasFilesIsLeftAlone) {
  const fs::path folder = folder_.path() / "new";
  ASSERT_TRUE(write_setup(folder, {{"a/b.sh", "#!/bin/sh\n", true}}));
  EXPECT_NE(fs::status(folder / "a/b.sh").permissions() & fs::perms::owner_exec, fs::perms::none);
  const Status again = write_setup(folder, {{"a/b.sh", "", true}});
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().text(), HasSubstr("has files already"));
}

TEST(Tar, LongNamesAreRefused) { EXPECT_FALSE(tar_of({{std::string(101, 'x'), ""}})); }

}  // namespace
}  // namespace roofwalk
