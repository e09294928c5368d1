// Tests `grade --again`, which grades only the named submissions once more, and changes of the terms (goals, hidden
// cases, device), after which grades under the old terms are reported as such.
#include "common/base/json.h"
#include "common/record/model_version.h"
#include "grader/class/batch/stored_grade.h"
#include "tests/batch/class_fixture.h"

namespace roofwalk::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class TermsTest : public ClassTest {
 protected:
  TermsTest() : ClassTest(Compiled::shared) {}
  void hand_in(const std::string& student) const {
    const fs::path file = folder_ / "submissions" / student / "vector-add.cu";
    fs::create_directories(file.parent_path());
    std::ofstream(file) << "// " << student << "\n"
                        << file_text(fs::path(TEST_SOURCE_DIR) / "solutions/01-vector-add/step1_fill_the_machine.cu");
  }
  void set_terms(const std::string& text) const { std::ofstream(folder_ / "course.toml") << text; }
  CommandResult type(std::vector<std::string> words) const {
    words.insert(words.begin(), TEST_PROGRAM);
    const bool grades = words[1] == "grade";
    for (const char* word : {"--course", "course.toml"}) words.emplace_back(word);
    if (grades && !boxed_) words.emplace_back("--unsandboxed");
    const auto result = run_command({.arguments = words, .working_directory = folder_, .timeout_s = 300});
    EXPECT_TRUE(result);
    return result ? *result : CommandResult{};
  }
};

TEST_F(TermsTest, OnlyWhatIsNamedIsGradedOnceMore) {
  set_terms("[[chapter]]\nname = \"vector-add\"\n");
  hand_in("ann");
  hand_in("bob");
  EXPECT_THAT(type({"grade", "submissions"}).output, HasSubstr("2 graded now, 0 before"));
  hand_in("cid");
  EXPECT_THAT(type({"grade", "--again", "submissions/ann"}).output, HasSubstr("1 graded now, 0 before"));
  EXPECT_THAT(type({"history", "ann"}).output, HasSubstr("round 2: pass"));
  EXPECT_THAT(type({"history", "bob"}).output, Not(HasSubstr("round 2")));
  // cid was never graded and gets round 1. ann and bob get their next round.
  EXPECT_THAT(type({"grade", "--again", "submissions"}).output, HasSubstr("3 graded now, 0 before"));
  EXPECT_THAT(type({"history", "ann"}).output, HasSubstr("round 3: pass"));
  EXPECT_THAT(type({"history", "cid"}).output, HasSubstr("round 1: pass"));
  EXPECT_THAT(type({"history", "cid"}).output, Not(HasSubstr("round 2")));
  EXPECT_FALSE(fs::exists(folder_ / "grades/regrading.json"));
}

// At the measured size, the kernel's lanes exchange data without a __syncwarp; at smaller sizes it has no race. `grade`
// finds the race because it also sanitizes the measured size; `run` does not find it.
TEST_F(TermsTest, TheMeasuredSizeIsSanitized) {
  set_terms("[[chapter]]\nname = \"vector-add\"\n");
  const fs::path file = folder_ / "submissions/ann/vector-add.cu";
  fs::create_directories(file.parent_path());
  fs::copy_file(
      fs::path(TEST_SOURCE_DIR) / "tests/grader/exploits/01-vector-add/measured_neighbours_swap_without_waiting.cu",
      file);
  EXPECT_THAT(type({"grade", "submissions"}).output, HasSubstr("1 graded now, 0 before"));
  EXPECT_THAT(type({"history", "ann"}).output, HasSubstr("line 11, and nothing orders the two"));
  const auto at_home = run_command({.arguments = {TEST_PROGRAM, "run", "vector-add", "--kernel", file.string()},
                                    .working_directory = folder_,
                                    .timeout_s = 300});
  ASSERT_TRUE(at_home);
  EXPECT_EQ(at_home->exit_code, 0) << at_home->output;
}

TEST_F(TermsTest, TheExitCodeTellsOfASubmissionThatSomebodyHasToLookAt) {
  set_terms("[[chapter]]\nname = \"vector-add\"\n");
  const fs::path file = folder_ / "submissions/ann/vector-add.cu";
  fs::create_directories(file.parent_path());
  fs::copy_file(fs::path(TEST_SOURCE_DIR) / "tests/grader/exploits/01-vector-add/code_beside_matrix_products.cu", file);
  const CommandResult result = type({"grade", "submissions"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.output, HasSubstr("needs a look: ann, vector-add: "));
  hand_in("bob");
  const CommandResult other = type({"grade", "submissions/bob", "--each"});
  EXPECT_EQ(other.exit_code, 0);
  EXPECT_THAT(other.output, HasSubstr("needs a look: ann, vector-add: "));
  // An earlier file, which does not count beside the later one, needs a look as well.
  fs::create_directories(folder_ / "earlier/ann");
  std::ofstream(folder_ / "earlier/ann/vector-add.cu") << file_text(file) << "// the first try\n";
  fs::last_write_time(folder_ / "earlier/ann/vector-add.cu", fs::last_write_time(file) - std::chrono::hours(1));
  EXPECT_EQ(type({"grade", "earlier/ann", "--each"}).exit_code, 1);
}

TEST_F(TermsTest, TheExitCodeTellsOfRowsThatMayBeOnePersons) {
  set_terms("[[chapter]]\nname = \"vector-add\"\n");
  hand_in("Ada Lovelace");
  EXPECT_EQ(type({"grade", "submissions"}).exit_code, 0);
  hand_in("ada_lovelace");
  const CommandResult result = type({"grade", "submissions"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.output, HasSubstr("look at: ada_lovelace: has a row next to that of Ada Lovelace, who has a "
                                       "similar name: are they one person?\n"));
}

TEST_F(TermsTest, WithoutAPathSomethingMustHaveBeenHandedInBefore) {
  set_terms("[[chapter]]\nname = \"vector-add\"\n");
  const CommandResult result = type({"grade"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.output, HasSubstr("nothing was handed in before (give the files, folders or zips to grade)"));
  EXPECT_FALSE(fs::exists(folder_ / "grades"));
}

// In a folder that others can write to, a file may have the name of an option, and `*` would give it as one.
TEST_F(TermsTest, NoFileIsAnOption) {
  std::ofstream(folder_ / "--unsandboxed") << "";
  const CommandResult refused = type({"grade", "--unsandboxed", "submissions"});
  EXPECT_EQ(refused.exit_code, 2) << refused.output;
  EXPECT_THAT(refused.output, HasSubstr("`--unsandboxed` is also the name of a file here"));
  EXPECT_THAT(refused.output, HasSubstr("write ./* in place of *"));
}

// Files that students mailed are saved where somebody may save a course.toml, too.
TEST_F(TermsTest, NoDefaultLiesBesideHandIns) {
  set_terms("[[chapter]]\nname = \"vector-add\"\n");
  for (const char* file : {"ann.cu", "ann.zip", "bob.zip"}) std::ofstream(folder_ / file) << "no zip";
  const auto grade = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {TEST_PROGRAM, "grade"});
    if (!boxed_) words.emplace_back("--unsandboxed");
    return *run_command({.arguments = words, .working_directory = folder_, .timeout_s = 300});
  };
  using Words = std::vector<std::string>;
  const std::string lies_beside = "lies beside the hand-ins, so a student may have put it there (choose it with ";
  const std::vector<Words> calls = {
      {"ann.zip", "bob.zip"}, {"ann.cu"}, {"../" + folder_.filename().string() + "/ann.cu"}};
  for (const Words& words : calls) {
    const CommandResult refused = grade(words);
    EXPECT_EQ(refused.exit_code, 2) << words.front();
    EXPECT_THAT(refused.output, HasSubstr("course.toml: " + lies_beside +
                                          "--course, and the folder of the grades with --grades, or move the "
                                          "hand-ins to a folder of their own)"));
  }
  // Nobody can have put there what is not there.
  Words named = {"ann.zip", "bob.zip", "--course", "course.toml"};
  EXPECT_THAT(grade(named).output, HasSubstr("left out: "));
  EXPECT_TRUE(fs::exists(folder_ / "grades/grades.db"));
  EXPECT_THAT(grade(named).output, HasSubstr("grades: " + lies_beside + "--grades, or move the hand-ins"));
  for (const char* word : {"--grades", "grades"}) named.emplace_back(word);
  EXPECT_THAT(grade(named).output, HasSubstr("left out: "));
  fs::remove_all(folder_ / "grades");
  // A single archive is the class's or one student's, and folders side by side are the class: platforms give both.
  EXPECT_THAT(grade({"ann.zip"}).output, HasSubstr("is not a readable zip"));
  EXPECT_THAT(grade({"ann.zip", "--each"}).output, HasSubstr("is not a readable zip"));
  for (const char* student : {"ann", "bob"}) {
    hand_in(student);
    fs::rename(folder_ / "submissions" / student, folder_ / student);
  }
  EXPECT_THAT(grade({"ann", "bob"}).output, HasSubstr("2 graded now, 0 before"));
  EXPECT_THAT(grade({"ann.zip", "bob.zip"}).output, HasSubstr("lies beside the hand-ins"));
}

TEST_F(TermsTest, ARegradeThatWasCutOffGoesOn) {
  set_terms("[[chapter]]\nname = \"vector-add\"\n");
  hand_in("ann");
  hand_in("bob");
  ASSERT_EQ(type({"grade", "submissions"}).exit_code, 0);
  {
    std::string told;
    GradeStore store = *GradeStore::open(folder_ / "grades/grades.db", told);
    auto grades = *store.grades();
    ASSERT_EQ(grades.size(), 2u);
    std::ofstream(folder_ / "grades/regrading.json") << Json{{grades[0].key, 2}, {grades[1].key, 2}};
    grades[0].round = 2;
    ASSERT_TRUE(store.add(grades[0]));
  }
  EXPECT_THAT(type({"grade", "--again", "submissions"}).output, HasSubstr("1 graded now, 1 before"));
  EXPECT_THAT(type({"grade", "--again", "submissions"}).output, HasSubstr("2 graded now, 0 before"));
}

// The class as another version of roofwalk left it: ann's kernel was an ace there, bob's is as it is now.
TEST_F(TermsTest, CompareListsTheVerdictsThatThisVersionChanges) {
  const std::string present = std::to_string(kModelVersion), older = std::to_string(kModelVersion - 1);
  set_terms("[[chapter]]\nname = \"vector-add\"\n");
  hand_in("ann");
  hand_in("bob");
  ASSERT_EQ(type({"grade", "submissions"}).exit_code, 0);
  const fs::path file = folder_ / "grades/grades.db";
  std::string told;
  {
    GradeStore now = *GradeStore::open(file, told);
    Handed handed;
    handed.students = *now.students();
    handed.submissions = *now.submissions();
    const std::vector<StoredGrade> grades = *now.grades();
    GradeStore then = *GradeStore::open(folder_ / "then/grades.db", told);
    ASSERT_TRUE(then.add(handed));
    for (StoredGrade grade : grades) {
      const bool is_anns = grade.source_sha256 == handed.submissions[0].source_sha256;
      grade.key = "of another program " + grade.source_sha256;
      grade.result["attempt"]["model_version"] = kModelVersion - 1;
      if (is_anns) {
        grade.result["attempt"]["grade"] = "ace";
        grade.result["scales"][0]["reached"] = grade.result["scales"][0]["ace"];
      }
      ASSERT_TRUE(then.add(grade));
    }
  }
  fs::copy_file(folder_ / "then/grades.db", file, fs::copy_options::overwrite_existing);
  set_terms("model_version = " + older + "\n[[chapter]]\nname = \"vector-add\"\n");
  EXPECT_THAT(type({"grade"}).output,
              HasSubstr("`grade --compare` lists the verdicts that would change; or set " + present));
  EXPECT_EQ(type({"grade", "--compare", "--again"}).exit_code, 2);

  for (int times = 0; times < 2; ++times) {
    const CommandResult compared = type({"grade", "--compare"});
    EXPECT_EQ(compared.exit_code, 0);
    EXPECT_THAT(compared.output, HasSubstr("ann, vector-add (submissions/ann/vector-add.cu)\n  ace, 10 points (model " +
                                           older + ") -> pass, "));
    EXPECT_THAT(compared.output, Not(HasSubstr("bob")));
    EXPECT_THAT(compared.output, HasSubstr("2 submissions compared: 1 would get another verdict, 0 only other points; "
                                           "the total of 1 student would change\n"));
    EXPECT_THAT(compared.output, HasSubstr("`model_version = " + present +
                                           "` in course.toml, then `./roofwalk grade --course course.toml` takes"));
  }
  GradeStore after = *GradeStore::open(file, told);
  for (const StoredGrade& grade : *after.grades()) {
    EXPECT_EQ(grade.result["attempt"]["model_version"], kModelVersion - 1);
  }
  EXPECT_EQ(GradeStore::open(folder_ / "grades/compare/grades.db", told)->grades()->size(), 2u);
}

TEST_F(TermsTest, GradesUnderOtherTermsSaySo) {
  set_terms("[[chapter]]\nname = \"vector-add\"\npoints = 10\n");
  hand_in("ann");
  hand_in("bob");
  ASSERT_EQ(type({"grade", "submissions"}).exit_code, 0);
  EXPECT_THAT(type({"export", "csv"}).output, Not(HasSubstr("other terms")));

  // Points are not part of a grade: after a change, `export` uses the new points at once, and `report` writes them into
  // the files.
  set_terms("[[chapter]]\nname = \"vector-add\"\npoints = 40\n");
  const std::string before = file_text(folder_ / "grades/gradebook.csv");
  const CommandResult points = type({"export", "csv"});
  EXPECT_EQ(points.exit_code, 0);
  EXPECT_NE(points.output, before);
  EXPECT_EQ(type({"report"}).exit_code, 0);
  EXPECT_EQ(file_text(folder_ / "grades/gradebook.csv"), points.output);

  set_terms(
      "[[chapter]]\nname = \"vector-add\"\npoints = 40\n"
      "thresholds = [{ what = \"share_of_roof\", level = \"dram\", pass = 0.5 }]\n");
  const std::string told =
      "2 grades were made under other terms (goals, hidden cases or device): `./roofwalk grade --course course.toml` "
      "makes them again";
  const CommandResult refused = type({"export", "csv"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.output, HasSubstr(told));
  EXPECT_THAT(refused.output, Not(HasSubstr("ann,")));
  const CommandResult stale = type({"export", "csv", "--stale"});
  EXPECT_EQ(stale.exit_code, 0);
  EXPECT_THAT(stale.output, HasSubstr("ann,"));
  EXPECT_THAT(type({"report"}).output, HasSubstr(told));
  EXPECT_THAT(type({"history", "ann"}).output, HasSubstr("under other terms"));

  // Naming ann regrades only ann, so bob's grade under the old terms remains and is still reported.
  EXPECT_THAT(type({"grade", "submissions/ann"}).output, HasSubstr("1 grade was made under other terms"));
  EXPECT_THAT(type({"grade"}).output, HasSubstr("1 graded now, 1 before"));
  EXPECT_EQ(type({"export", "csv"}).exit_code, 0);
}

TEST_F(TermsTest, NamesHaveAFolderOfTheirOwn) {
  set_terms("[[chapter]]\nname = \"vector-add\"\n");
  hand_in("ann");
  hand_in("=1+1");
  ASSERT_EQ(type({"grade", "submissions"}).exit_code, 0);
  EXPECT_THAT(file_text(folder_ / "grades/report-names.csv"), HasSubstr("\r\n'=1+1,student"));
  const std::string anonymous = file_text(folder_ / "grades/report/index.html");
  ASSERT_EQ(type({"report", "--names"}).exit_code, 0);
  EXPECT_EQ(file_text(folder_ / "grades/report/index.html"), anonymous);
  EXPECT_THAT(file_text(folder_ / "grades/report-with-names/index.html"), HasSubstr(">ann</a>"));
}

TEST_F(TermsTest, OneFileAtTwoPlacesIsOneSubmission) {
  set_terms("late = { per_day = 0.25 }\n[[chapter]]\nname = \"vector-add\"\ndeadline = 2020-01-01T00:00:00+02:00\n");
  hand_in("ann");
  fs::create_directories(folder_ / "again/ann");
  fs::copy_file(folder_ / "submissions/ann/vector-add.cu", folder_ / "again/ann/vector-add.cu");
  EXPECT_THAT(type({"grade", "submissions"}).output, HasSubstr("1 graded now, 0 before"));
  EXPECT_THAT(type({"grade", "again"}).output, HasSubstr("0 graded now, 1 before"));
  const std::string history = type({"history", "ANN"}).output;
  EXPECT_EQ(history.find("vector-add, handed in"), history.rfind("vector-add, handed in"));
  EXPECT_THAT(history, HasSubstr("also as submissions/ann/vector-add.cu"));
  EXPECT_THAT(history, HasSubstr("due 2020-01-01 00:00 (UTC+02:00)"));
  EXPECT_THAT(history, HasSubstr("late: no points are left"));
}

TEST_F(TermsTest, ACompilersLinesAreLines) {
  set_terms("[[chapter]]\nname = \"vector-add\"\n");
  fs::create_directories(folder_ / "submissions/ann");
  std::ofstream(folder_ / "submissions/ann/vector-add.cu")
      << "#include <roofwalk.cuh>\nSOLVE(int n) { x = y; z = w; }\n";
  ASSERT_EQ(type({"grade", "submissions"}).exit_code, 0);
  const std::string history = type({"history", "ann"}).output;
  EXPECT_THAT(history, HasSubstr("round 1: does not compile"));
  EXPECT_THAT(history, Not(HasSubstr("\\x0a")));
  EXPECT_THAT(type({"grade", "submissions"}).output, HasSubstr("0 does not compile"));
}

}  // namespace
}  // namespace roofwalk::test
