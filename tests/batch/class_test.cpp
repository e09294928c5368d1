// Grades a large class from the command line as an instructor does, and kills the program at random moments.
#include "tests/batch/class_fixture.h"

namespace roofwalk::test {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t kLongClass = 200;

TEST_F(ClassTest, KilledThreeTimesAndResumedGivesTheSameGradebook) {
  make({.students = 9, .seed = 3, .bytes_of_large = 2u << 20});
  const double undisturbed_s = undisturbed(2);
  EXPECT_FALSE(fs::exists(folder_ / "pwned"));
  const auto books = results("undisturbed");
  ASSERT_TRUE(books.contains("gradebook.json"));
  for (const auto& [name, text] : books) {
    EXPECT_THAT(text, ::testing::Not(HasSubstr("7203685477580"))) << name;  // the hidden seed
    EXPECT_THAT(text, ::testing::Not(HasSubstr("4099"))) << name;           // a hidden size
    EXPECT_THAT(text, ::testing::Not(HasSubstr("root:"))) << name;          // a file of this machine
  }
  expect_kills_change_nothing(3, 2, undisturbed_s);
}

TEST_F(ClassTest, LongTwoHundredSubmissionsWithinTenMinutes) {
  make({.students = kLongClass});
  const double elapsed_s = undisturbed(2);
  RecordProperty("elapsed_s", static_cast<int>(elapsed_s));
  std::printf("%zu submissions on two workers: %.0f s\n", kLongClass, elapsed_s);
  EXPECT_LT(elapsed_s, 600);
  for (const int workers : {1, 2}) expect_kills_change_nothing(20, workers, elapsed_s);
}

}  // namespace
}  // namespace roofwalk::test
