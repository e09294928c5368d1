// Random zips of a class with Canvas' file names, from honest learners and from attackers. Attackers name their files
// and groups the way Canvas would name another student's. No file may become another student's, and no late file may
// count as on time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "grader/class/hand_ins/lms_names.h"

namespace roofwalk {
namespace {

using testing::Each;
using testing::Not;

constexpr int kZips = 3'000;
const std::string kDayInAName = "20261001";  // a date in a file name

struct Learner {
  std::string name, id;
  bool is_late = false;
};

struct HandedIn {
  std::string file;
  Learner by;
  bool is_honest = true;
};

// The name without the underscores around each of its numbers, as Canvas writes it: ada_48110_b becomes ada48110b.
std::string without_inner_numbers(const std::string& name) {
  std::string out;
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t end = name[at] == '_' ? name.find_first_not_of("0123456789", at + 1) : std::string::npos;
    const bool is_inner = end != std::string::npos && end > at + 1 && name[end] == '_';
    out += is_inner ? name.substr(at + 1, end - at - 1) : name.substr(at, 1);
    at = is_inner ? end + 1 : at + 1;
  }
  return out;
}

class Zip {
 public:
  // `are_teams`: the honest learners are groups whose names end with numbers.
  explicit Zip(unsigned seed, bool are_teams = false)
      : random_(seed),
        are_teams_(are_teams),
        is_quiz_(one_of(4) == 0 && !are_teams),
        id_digits_(4 + one_of(4)),
        first_file_(a_first_file()) {
    std::vector<std::string> names = {"doejane", "smithbob", "liwei",  "annax", "poeedgar",
                                      "kimlee",  "ortega",   "ivanov", "silva", "oconnor"};
    for (std::size_t i = 0; are_teams && i < names.size(); ++i) names[i] = "team_" + std::to_string(5 + i);
    const bool has_late = one_of(2) == 0;
    const int honest = 1 + one_of(static_cast<int>(names.size()));
    for (int i = 0; i < honest; ++i) {
      honest_.push_back({names[static_cast<std::size_t>(i)], an_id(), has_late && one_of(3) == 0});
      const bool may_have_day = first_file_ > 0 && i > 1 &&
                                !is_quiz_;  // the first two names have no date, so they show which number is the file's
      hand_in(honest_.back(),
              may_have_day && one_of(4) == 0 ? kDayInAName + "_vector-add.cu"
              : one_of(4) == 0               ? "hw_1_vector-add.cu"
                                             : "vector-add.cu",
              true);
    }
    for (int i = 0; i <= one_of(3); ++i) {
      const std::string id = one_of(4) == 0 ? a_short_id() : an_id();
      // Canvas takes the underscores around a number from a name. Several in a row get past that, but hardly in a name
      // of one of the first accounts.
      const std::string name = attackers_name();
      const bool is_first = id.size() <= 2 && std::any_of(honest_.begin(), honest_.end(),
                                                          [](const Learner& each) { return each.id.size() > 4; });
      const Learner attacker{is_first ? without_inner_numbers(name) : name, id, has_late && one_of(2) == 0};
      for (int j = 0; j <= one_of(3); ++j) hand_in(attacker, attackers_file(), false);
    }
  }

  const std::vector<HandedIn>& handed_in() const { return handed_in_; }
  std::vector<std::string> files() const {
    std::vector<std::string> out;
    for (const HandedIn& each : handed_in_) out.push_back(each.file);
    return out;
  }
  std::vector<std::string> honest_students() const {
    std::vector<std::string> out;
    for (const Learner& each : honest_) out.push_back(owner_with_id(each.name, each.id).student);
    return out;
  }
  bool is_quiz() const { return is_quiz_; }

 private:
  int one_of(int count) { return static_cast<int>(random_() % static_cast<unsigned>(count)); }
  std::string number(int digits) {
    std::string out(1, static_cast<char>('1' + one_of(9)));
    while (out.size() < static_cast<std::size_t>(digits)) out += static_cast<char>('0' + one_of(10));
    return out;
  }
  // Returns a new id. Most accounts of a class have ids of equal length; a few are much older or newer, with shorter or
  // longer ids.
  std::string an_id() {
    constexpr int kOfAnotherAccount = 15;
    int digits = one_of(8) == 0 ? 3 + one_of(6) : id_digits_;
    // There are more files than people, so a person's number is hardly longer than a file's, which has one digit more.
    if (are_teams_ && digits > id_digits_ + 2) digits = one_of(2) == 0 ? id_digits_ : kOfAnotherAccount;
    std::string id = number(digits);
    while (!ids_.insert(id).second) id = number(digits);
    return id;
  }
  // Returns a new id of one of the first accounts.
  std::string a_short_id() {
    std::string id = number(1 + one_of(2));
    while (!ids_.insert(id).second) id = number(1 + one_of(2));
    return id;
  }
  // Returns the zip's first file number if Canvas numbered the files consecutively, or 0 if their numbers are
  // arbitrary.
  int a_first_file() {
    constexpr int kPart = 10;
    if (one_of(2) == 0) return 0;
    const int digits = id_digits_ + 1;
    int least = 1;
    for (int i = 1; i < digits; ++i) least *= 10;
    const int longer = 10 * least - 500;  // near here, numbers get one more digit
    const int first = one_of(2) == 0 ? longer : least + one_of(8 * least);
    return std::abs(first - std::stoi(kDayInAName)) < first / kPart * 2 ? longer : first;
  }
  std::string file_number() {
    return first_file_ > 0 ? std::to_string(first_file_ + one_of(1000)) : number(id_digits_ + 1);
  }
  const Learner& victim() { return honest_[static_cast<std::size_t>(one_of(static_cast<int>(honest_.size())))]; }

  void hand_in(const Learner& by, const std::string& rest, bool is_honest) {
    const std::string mark = by.is_late && !is_quiz_ ? "_LATE" : "";
    const std::string person = is_quiz_ ? by.name + by.id + "_question_31" : by.name + mark + "_" + by.id;
    const bool has_old_file = !is_honest && one_of(4) == 0;
    const std::string file = has_old_file ? an_old_file_number(by.id) : file_number();
    handed_in_.push_back({person + "_" + file + "_" + rest, by, is_honest});
  }
  // Returns the number of a file uploaded long before. Canvas has more files than people, so the number has at least as
  // many digits as the owner's id. Where ids are long, nobody has one of the first ids and one of the first files.
  std::string an_old_file_number(const std::string& id) {
    constexpr int kYoung = 4;
    const int digits = static_cast<int>(id.size());
    if (digits < 3 && id_digits_ > kYoung) return number(id_digits_ + one_of(2));
    return number(digits + (digits + 1 >= id_digits_ ? one_of(2) : 2));
  }

  // Returns a name for an attacker or their group, which may look like the beginning of another student's file name.
  std::string attackers_name() {
    const Learner& other = victim();
    if (is_quiz_) return one_of(2) == 0 ? "eve" : other.name + other.id + "_question_31_" + file_number() + "_x";
    switch (one_of(5)) {
      case 0:
        return "eve";
      case 3:
        return other.name + "_" + other.id + "_" + file_number() + "_x";
      case 1:
        return other.name + "_" + other.id + "_" + file_number();
      case 2:
        return other.name + "_" + other.id;
      default:
        return other.name + "_late";
    }
  }

  std::string attackers_file() {
    const Learner& other = victim();
    const std::string last = file_number() + "_vector-add.cu";
    switch (one_of(7)) {
      case 0:
        return "vector-add.cu";
      case 1:
        return other.name + "_" + other.id + "_" + last;
      case 2:
        return other.id + "_" + last;
      case 3:
        return file_number() + "_" + last;
      case 4:
        return "LATE_" + other.id + "_" + last;
      case 5:
        return other.name + other.id + "_question_31_" + last;
      default:
        return number(1 + one_of(9)) + "_" + number(1 + one_of(9)) + "_" + last;
    }
  }

  std::mt19937 random_;
  bool are_teams_, is_quiz_;
  int id_digits_, first_file_;
  std::set<std::string> ids_;
  std::vector<Learner> honest_;
  std::vector<HandedIn> handed_in_;
};

TEST(ClassNames, NoFileBecomesAnothersWhateverLearnersCallTheirs) {
  for (unsigned seed = 0; seed < kZips; ++seed) {
    const Zip zip(seed);
    const ClassNames names(zip.files(), {"vector-add"});
    const std::vector<std::string> honest = zip.honest_students();
    for (const HandedIn& each : zip.handed_in()) {
      const Owner owner = names.owner_of(each.file).owner;
      // A date in the name may also be read as the number of an account far older or newer than the others. Then the
      // grader may leave the owner open.
      const bool is_open = owner.lms_id.empty() && each.file.find(kDayInAName) != std::string::npos;
      SCOPED_TRACE(testing::Message() << "zip " << seed << ", " << each.file << " is " << owner.student << "'s");
      if (each.is_honest && !is_open) {
        EXPECT_EQ(owner.student, owner_with_id(each.by.name, each.by.id).student);
      } else {
        EXPECT_THAT(honest, Each(Not(owner.student)));
      }
      if (zip.is_quiz()) {
        EXPECT_EQ(owner.mark, LateMark::none);
      } else if (each.is_honest && !is_open) {
        EXPECT_EQ(owner.lms_id, each.by.id);
        EXPECT_EQ(owner.mark, each.by.is_late ? LateMark::late : LateMark::on_time);
      } else if (each.by.is_late) {
        EXPECT_NE(owner.mark, LateMark::on_time);
      }
      if (HasFailure()) return;
    }
  }
}

// Names of groups that end with numbers are often ambiguous. Then each has a row of its own, which nobody else's files
// enter, however many they are.
TEST(ClassNames, NoFileEntersTheRowOfATeam) {
  for (unsigned seed = 0; seed < kZips; ++seed) {
    const Zip zip(seed, /*are_teams=*/true);
    const ClassNames names(zip.files(), {"vector-add"});
    std::map<std::string, std::string> ids;  // of the honest groups, by row
    for (const HandedIn& each : zip.handed_in()) {
      if (!each.is_honest) continue;
      const Owner owner = names.owner_of(each.file).owner;
      const bool has_day = each.file.find(kDayInAName) != std::string::npos;
      EXPECT_TRUE(has_day || !names.is_left_out(each.file)) << "zip " << seed << ", " << each.file;
      EXPECT_TRUE(ids.emplace(owner.student, each.by.id).second) << "zip " << seed << ", " << owner.student;
    }
    for (const HandedIn& each : zip.handed_in()) {
      const Owner owner = names.owner_of(each.file).owner;
      const bool has_row = !each.is_honest && !names.is_left_out(each.file);
      EXPECT_FALSE(has_row && ids.contains(owner.student))
          << "zip " << seed << ", " << each.file << " is " << owner.student << "'s";
      EXPECT_FALSE(each.by.is_late && owner.mark == LateMark::on_time) << "zip " << seed << ", " << each.file;
    }
    if (HasFailure()) return;
  }
}

// A team hands in nothing. Another learner has a number that may be the end of the team's name, and a file with the
// team's number.
TEST(ClassNames, NoFileBecomesAnAbsentTeams) {
  for (unsigned seed = 0; seed < kZips; ++seed) {
    const Zip zip(seed, /*are_teams=*/true);
    const HandedIn& absent = zip.handed_in()[seed % zip.honest_students().size()];
    const Learner& team = absent.by;
    const std::string number = team.name.substr(team.name.rfind('_') + 1);
    std::vector<std::string> files = zip.files();
    std::erase(files, absent.file);
    const bool is_somebodys = std::any_of(zip.handed_in().begin(), zip.handed_in().end(),
                                          [&](const HandedIn& each) { return each.by.id == number; });
    if (is_somebodys) continue;
    const std::string forged = team.name + "_" + team.id + "_" + team.id + "1_vector-add.cu";
    files.push_back(forged);
    const ClassNames names(files, {"vector-add"});
    const Owner owner = names.owner_of(forged).owner;
    EXPECT_NE(owner.lms_id, team.id) << "zip " << seed << ", " << forged;
    EXPECT_NE(owner.student, owner_with_id(team.name, team.id).student) << "zip " << seed << ", " << forged;
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace roofwalk
