// Faults of the grader itself. If a worker crashes or hangs, its submission is tried once more and then left to a
// person, without a zero, and the batch goes on. Also tests a full disk, damaged and forged records, two graders of one
// folder, and hidden cases.
#include "grader/class/batch/batch.h"
#include "grader/class/batch/grade_all.h"
#include "grader/rig/roofs.h"
#include "tests/batch/class_fixture.h"

namespace roofwalk::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class FaultsTest : public ClassTest {
 protected:
  FaultsTest() : ClassTest(Compiled::shared) {}
  void hand_in(const std::string& student, const std::string& text) const {
    fs::create_directories(folder_ / "submissions" / student);
    std::ofstream(folder_ / "submissions" / student / "vector-add.cu") << text;
  }
  void small_class() const {
    const std::string kernel =
        file_text(fs::path(TEST_SOURCE_DIR) / "solutions/01-vector-add/step1_fill_the_machine.cu");
    for (const char* student : {"ann", "bob", "cid", "dee"})
      hand_in(student, "// " + std::string(student) + "\n" + kernel);
    std::ofstream(folder_ / "course.toml") << "[[chapter]]\nname = \"vector-add\"\n";
  }
};

TEST_F(FaultsTest, AWorkerThatCrashesOrHangsCostsItsSubmissionAlone) {
  small_class();
  // A script in place of the worker: it crashes if bob's file is graded, hangs if cid's is, and removes dee's, as a
  // program that cleans temporary folders may.
  const fs::path script = folder_ / "worker";
  std::ofstream(script) << "#!/bin/bash\nfile='" << (folder_ / "grades/work/0/vector-add.cu").string() << "'\n"
                        << "if grep -q '^// bob' \"$file\"; then kill -SEGV $$; fi\n"
                        << "if grep -q '^// cid' \"$file\"; then sleep 1000; fi\n"
                        << "if grep -q '^// dee' \"$file\"; then rm \"$file\"; fi\n"
                        << "exec " TEST_PROGRAM " \"$@\"\n";
  fs::permissions(script, fs::perms::owner_all);

  const fs::path before = fs::current_path();
  fs::current_path(course_.root());
  const Course course = *open_course({});
  Batch batch = *Batch::open(course, {.course_file = folder_ / "course.toml", .folder = folder_ / "grades"});
  const auto handed = collect({folder_ / "submissions"}, {{"vector-add"}},
                              [&](const auto& sha256, const auto& bytes) { return batch.keep_source(sha256, bytes); });
  ASSERT_TRUE(handed && batch.store().add(*handed));
  Rig rig = *open_rig(course, "auto", 2, nullptr);
  ASSERT_TRUE(use_measured_roofs(rig));
  batch.use_bench(rig);
  const auto summary =
      grade_all(batch, rig, "auto", handed->submissions,
                {.workers = 1, .isolation = Isolation::none, .program = script, .limits = {.wall_s = 8}},
                [](const GradeProgress&) {});
  fs::current_path(before);
  ASSERT_TRUE(summary) << summary.error().text();
  EXPECT_EQ(summary->graded, 1u);
  EXPECT_EQ(summary->faults, 3u);
  const auto faults = *batch.store().faults();
  ASSERT_EQ(faults.size(), 6u);  // each of the three was tried twice
  EXPECT_THAT(faults[0].reason, HasSubstr("the worker died by signal 11"));
  EXPECT_THAT(faults[1].reason, HasSubstr("the worker did not end within 8 s"));
  EXPECT_THAT(faults[2].reason, HasSubstr("the worker's answer is about another submission"));
  const Gradebook book = *batch.gradebook();
  EXPECT_EQ(book.rows[0].cells[0].state, Cell::State::graded);
  for (const int row : {1, 2, 3}) {
    EXPECT_EQ(book.rows[row].cells[0].state, Cell::State::not_graded);
    EXPECT_EQ(book.rows[row].total_percent, std::nullopt);
  }
  EXPECT_EQ(book.rows[1].cells[0].counting()->reasons[0], "a fault of the grader: a person has to look");
  EXPECT_THAT(book.rows[1].cells[0].counting()->trouble, HasSubstr("the worker died by signal 11"));
}

// A limit of the file size stands for a full disk: unlike a small file system, it needs no permission to mount. The
// limit is soft, so that boxes can still set their own.
TEST_F(FaultsTest, AFullDiskLosesNothing) {
  small_class();
  ASSERT_EQ(grade("undisturbed", 2).exit_code, 0);
  const auto full = arguments("full", 2);
  std::string command = "trap '' XFSZ; ulimit -S -f 100; exec";
  for (const std::string& argument : full) command += " '" + argument + "'";
  const auto result =
      run_command({.arguments = {"bash", "-c", command}, .working_directory = folder_, .timeout_s = 300});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->exit_code, 3) << result->output;
  EXPECT_THAT(result->output, HasSubstr("disk is full"));
  EXPECT_THAT(result->output, HasSubstr("the same command"));
  EXPECT_EQ(grade("full", 2).exit_code, 0);
  EXPECT_EQ(results("full"), results("undisturbed"));
  expect_nothing_twice("full");
}

TEST_F(FaultsTest, ADamagedRecordIsMadeWholeAgain) {
  small_class();
  ASSERT_EQ(grade("undisturbed", 2).exit_code, 0);
  ASSERT_EQ(grade("damaged", 2).exit_code, 0);
  const fs::path file = folder_ / "damaged" / "grades.db";
  std::string bytes = file_text(file);
  for (std::size_t at = bytes.size() / 2; at < bytes.size() / 2 + 8192 && at < bytes.size(); ++at) bytes[at] = '\x7e';
  std::ofstream(file, std::ios::binary) << bytes;
  const CommandResult again = grade("damaged", 2);
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_THAT(again.output, HasSubstr("grades.db was damaged and is kept as grades.db.damaged-1"));
  EXPECT_EQ(results("damaged"), results("undisturbed"));
  expect_nothing_twice("damaged");
}

TEST_F(FaultsTest, AForgedGradeStopsEverything) {
  small_class();
  ASSERT_EQ(grade("forged", 2).exit_code, 0);
  const auto forged = run_command(
      {.arguments = {
           "python3", "-c",
           "import sqlite3, sys\nd = sqlite3.connect(sys.argv[1])\nd.execute('DROP TRIGGER grades_stay')\n"
           "d.execute(\"UPDATE grades SET result = replace(result, 'pass', 'fail') WHERE id = 2\")\nd.commit()",
           (folder_ / "forged/grades.db").string()}});
  ASSERT_TRUE(forged);
  if (forged->exit_code != 0) GTEST_SKIP() << "skipped: no python3 with sqlite3";
  const CommandResult result = grade("forged", 2);
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.output, HasSubstr("row 2 of the grades is not what was written"));
}

TEST_F(FaultsTest, TwoGradersOnOneFolderDoNotMix) {
  small_class();
  fs::create_directories(folder_ / "grades");
  const Descriptor held(::open((folder_ / "grades" / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  ASSERT_EQ(::flock(held.get(), LOCK_EX), 0);
  const CommandResult result = grade("grades", 1);
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.output, HasSubstr("another roofwalk is grading into this folder"));
}

TEST_F(FaultsTest, HiddenCasesCatchWhatThePublicOnesDoNotAndTellNothing) {
  small_class();
  // The kernel is right at every public size and wrong at a hidden one. If its printf were shown, it would reveal that
  // size.
  hand_in(
      "eve",
      "#include <roofwalk.cuh>\n__global__ void add(const float* a, const float* b, float* c, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i == 0 && n == 4099) printf(\"%d %f\\n\", n, a[0]);\n"
      "  if (i < n) c[i] = n == 4099 ? 0 : a[i] + b[i];\n}\nSOLVE(const float* a, const float* b, float* c, int n) {\n"
      "  add<<<ceil_div(n, 256), 256>>>(a, b, c, n);\n}\n");
  std::ofstream(folder_ / "secrets.toml") << "seeds = [7203685477580]\n[sizes.vector-add]\nn = [4099]\n";
  std::ofstream(folder_ / "course.toml") << "secrets = \"secrets.toml\"\n[[chapter]]\nname = \"vector-add\"\n";
  const CommandResult result = grade("grades", 2);
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("0 wrong result"));
  std::vector<fs::path> written{folder_ / "grades/grades.db"};
  for (const auto& entry : fs::recursive_directory_iterator(folder_ / "grades")) {
    if (entry.is_regular_file() && entry.path().parent_path().filename() != "sources") written.push_back(entry.path());
  }
  std::string all = result.output;
  for (const fs::path& file : written) all += file_text(file);
  EXPECT_THAT(file_text(folder_ / "grades/gradebook.json"), HasSubstr("c holds wrong values (a hidden size or seed)"));
  EXPECT_EQ(all.find("7203685477580"), std::string::npos);
  for (std::size_t at = all.find("4099"); at != std::string::npos; at = all.find("4099", at + 1)) {
    // The learner's own source contains the size, and a hash may contain its digits by chance.
    const std::string around = all.substr(at < 40 ? 0 : at - 40, 80);
    EXPECT_TRUE(around.find("n == ") != std::string::npos ||
                std::isxdigit(static_cast<unsigned char>(all[at - 1])) != 0)
        << around;
  }
}

}  // namespace
}  // namespace roofwalk::test
