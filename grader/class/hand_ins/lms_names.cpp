#include "grader/class/hand_ins/lms_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>
#include <string_view>
#include <utility>

#include "common/base/hash.h"
#include "common/base/pattern.h"
#include "grader/class/hand_ins/found_file.h"
#include "grader/text/characters.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

// The text in small letters, with one dash for each run of characters that are neither letters nor digits.
std::string normal(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || byte >= 0x80) {
      out += static_cast<char>(std::tolower(byte));
    } else if (!out.empty() && out.back() != '-') {
      out += '-';
    }
  }
  while (!out.empty() && out.back() == '-') out.pop_back();
  return out;
}

// The position of `name` in `text` as a whole word, between dashes or at the ends of the text; otherwise npos.
std::size_t place_of(const std::string& text, const std::string& name) {
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    const bool begins = at == 0 || text[at - 1] == '-',
               ends = at + name.size() == text.size() || text[at + name.size()] == '-';
    if (begins && ends) return at;
  }
  return std::string::npos;
}

// NAME, ID and REST of a name in Moodle's form.
struct MoodleMark {
  std::string name, id, rest;
};

// Reads NAME_ID_assignsubmission_file_REST; REST may be empty, and the `_` before it missing. NAME contains no slash,
// no backslash and no `_`, because Moodle removes slashes and turns `_` into spaces (mod/assign/locallib.php). So the
// text after the first `_` is Moodle's, and any later mark is part of the learner's file name.
std::optional<MoodleMark> moodle_mark(const std::string& text) {
  const std::size_t at = text.find('_');
  if (at == std::string::npos || at == 0 || text.find_first_of("/\\") < at) return std::nullopt;
  const std::size_t digits = digits_at(text, at + 1);
  const std::string_view behind = std::string_view(text).substr(at + 1 + digits);
  for (const std::string_view kind : {"_assignsubmission_file", "_assignsubmission_onlinetext"}) {
    if (digits == 0 || !behind.starts_with(kind)) continue;
    const std::string_view rest = behind.substr(kind.size());
    if (!rest.empty() && rest.front() != '_') continue;
    return MoodleMark{text.substr(0, at), text.substr(at + 1, digits), std::string(rest.substr(rest.empty() ? 0 : 1))};
  }
  return std::nullopt;
}

// The number of hash digits in a changed name: so many that nobody can find another name with the same hash.
constexpr std::size_t kHashDigits = 16;
constexpr std::string_view kHashMark = " ~";

// The prefix of a participant's number in Moodle's own tables.
const std::string kParticipant = "Participant ";

// Prefix of a student's number that may not be from the LMS, because whoever named the file may have invented the
// number.
const std::string kUnproven = "Unproven ";

std::string hash_of(const std::string& text) {
  return std::string(kHashMark) + sha256_hex(text).substr(0, kHashDigits);
}

// A class usually has at least this many people; fewer names in Canvas' form may be a single student's invention.
constexpr std::size_t kManyPeople = 5;

// Whether an owner is from a name in Canvas' form.
bool is_canvas(const Owner& owner) { return owner.mark != LateMark::none || is_persons(owner.lms_id); }

NamedFile named_by_canvas(const CanvasMark& mark) {
  Owner owner = mark.id.empty()   ? Owner{student_name(mark.name), "", {}}
                : mark.is_persons ? owner_with_id(mark.name, mark.id)
                                  : owner_with_unproven_id(mark.name, mark.id);
  if (mark.tells_lateness) owner.mark = mark.is_late ? LateMark::late : LateMark::on_time;
  owner.alike = mark.alike;
  return {owner, mark.rest, NamedBy::platform, mark.is_alike_one};
}

NamedFile named_by_moodle(const MoodleMark& mark) {
  Owner owner = owner_with_id(mark.name, mark.id);
  owner.lms_id = kParticipant + mark.id;
  return {owner, mark.rest, NamedBy::platform};
}

}  // namespace

Owner owner_with_id(const std::string& name, const std::string& id) {
  // Replaces brackets in the id: the last opening bracket of the result must be the one that is added below.
  std::string shown = student_name(id);
  if (shown.find_first_of("()") != std::string::npos) {
    std::replace(shown.begin(), shown.end(), '(', '[');
    std::replace(shown.begin(), shown.end(), ')', ']');
    shown += hash_of(id);
  }
  return {(name.empty() ? "" : student_name(name) + " ") + "(" + shown + ")", id, {}};
}

Owner owner_with_unproven_id(const std::string& name, const std::string& id) {
  Owner owner = owner_with_id(name, id);
  owner.lms_id = kUnproven + id;
  return owner;
}

std::optional<std::string> chapter_of_file(const std::string& name, const std::vector<std::string>& chapters) {
  const std::string stem = normal(fs::path(name).stem().string());
  std::optional<std::string> found;
  for (const std::string& chapter : chapters) {
    if (stem == chapter) return chapter;
    if (place_of(stem, chapter) == std::string::npos) continue;
    if (found) return std::nullopt;
    found = chapter;
  }
  return found;
}

std::string beside_chapter(const std::string& name, const std::vector<std::string>& chapters, Versions versions) {
  constexpr std::ptrdiff_t kMostVersionDigits = 2;  // in some classes, longer numbers are students'
  const std::set<std::string_view> version_words = {"copy", "final", "fixed", "new", "old", "v", "version"};
  const std::string own = name.substr(name.find_last_of("/\\") + 1);  // the name may be a Windows path
  const auto chapter = chapter_of_file(own, chapters);
  std::string text = normal(fs::path(own).stem().string()), said;
  if (chapter) text.erase(place_of(text, *chapter), chapter->size());
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('-', begin), text.size());
    std::string word = text.substr(begin, end - begin);
    const bool is_version = std::count_if(word.begin(), word.end(), is_digit) <= kMostVersionDigits;
    if (is_version && versions == Versions::left_out) std::erase_if(word, is_digit);
    if (!word.empty() && !version_words.contains(word)) said += (said.empty() ? "" : "-") + word;
    begin = end + 1;
  }
  return said;
}

bool is_chapters_alone(const std::string& name, const std::vector<std::string>& chapters) {
  return owner_of_file(name, chapters).by == NamedBy::name && chapter_of_file(name, chapters) &&
         beside_chapter(name, chapters, Versions::counted).empty();
}

bool is_participants(const std::string& lms_id) { return lms_id.starts_with(kParticipant); }

bool is_persons(const std::string& lms_id) {
  return !lms_id.empty() && !is_participants(lms_id) && !lms_id.starts_with(kUnproven);
}

std::string number_of(const std::string& lms_id) {
  return lms_id.substr(lms_id.starts_with(kUnproven) ? kUnproven.size() : 0);
}

NamedFile owner_of_file(const std::string& name, const std::vector<std::string>& chapters) {
  const auto moodle = moodle_mark(name);
  if (moodle && !moodle->rest.empty()) return named_by_moodle(*moodle);
  if (const auto canvas = canvas_mark(name)) return named_by_canvas(*canvas);
  // STUDENT_CHAPTER.cu: the student's name precedes a separator and the chapter's name.
  const std::string stem = fs::path(name).stem().string();
  for (const std::string& chapter : chapters) {
    if (stem.size() <= chapter.size() || !stem.ends_with(chapter)) continue;
    const std::size_t before = stem.size() - chapter.size();
    if (std::string_view("_-. ").find(stem[before - 1]) == std::string_view::npos) continue;
    const std::string student = stem.substr(0, before - 1);
    if (!student.empty()) return {{student_name(student), "", {}}, name, NamedBy::student_and_chapter};
  }
  return {{student_name(stem), "", {}}, name, NamedBy::name};
}

ClassNames::ClassNames(const std::vector<std::string>& files, const std::vector<std::string>& chapters,
                       const std::vector<std::string>& folders)
    : chapters_(chapters),
      is_moodles_(std::none_of(files.begin(), files.end(),
                               [&](const std::string& name) {
                                 return !moodle_mark(name) && owner_of_file(name, chapters).by == NamedBy::platform;
                               })),
      canvas_([&] {
        std::vector<std::string> names;
        std::copy_if(files.begin(), files.end(), std::back_inserter(names),
                     [&](const std::string& name) { return !is_moodles_ || !moodle_mark(name); });
        return names;
      }()),
      told_(canvas_.told()) {
  tell_of_otherwise(files);
  tell_of_beside(files, folders);
  tell_of_blackboard(files);
  const std::string other = doubtful_beside(files, folders);
  is_mixed_ = !other.empty();
  if (!is_mixed_) return;
  told_.emplace_back(other,
                     "is not named the way Canvas names files, but others next to it are: anybody may have chosen "
                     "those names, so their numbers identify nobody and the files' own times count; if Canvas named "
                     "the others, grade them by themselves");
}

void ClassNames::doubt_alone(const std::vector<std::string>& files, const std::vector<std::string>& folders,
                             const std::set<std::string>& proven) {
  std::set<std::string> students, canvas;
  std::string first;
  bool has_on_time = false;
  const auto look = [&](const std::string& name, const Owner& owner) {
    students.insert(owner.student);
    if (first.empty() && is_canvas(owner)) first = name;
    has_on_time = has_on_time || owner.mark == LateMark::on_time;
  };
  for (const std::string& name : files) {
    if (!(is_source(name) || is_zip(name)) || is_chapters_alone(name, chapters_)) continue;
    const Owner owner = owner_of(name).owner;
    look(name, owner);
    if (is_canvas(owner)) canvas.insert(owner.student);
  }
  for (const std::string& name : folders) look(name, owner_of_folder(name).owner);
  if (first.empty()) return;
  if (students.size() > 1) return tell_of_few(first, canvas.size());
  alone_ = proven.contains(*students.begin()) ? Alone::proven : Alone::unproven;
  std::vector<std::string> doubts;
  if (alone_ == Alone::unproven) doubts.push_back("the number identifies nobody");
  if (has_on_time) doubts.push_back("the file's own time counts");
  if (doubts.empty()) {
    told_.emplace_back(first, fmt::format("is named the way Canvas names files, and is alone: check that it is {}'s",
                                          *students.begin()));
    return;
  }
  told_.emplace_back(
      first,
      fmt::format("is named the way Canvas names files, but {}: so {}; if Canvas named it, grade its zip as downloaded",
                  alone_ == Alone::proven ? "it is alone"
                                          : fmt::format("the record has no {} with that number", *students.begin()),
                  fmt::join(doubts, ", and ")));
}

// Adds a line if only a few people have names in Canvas' form: one student may have made them up, and mailed the files.
void ClassNames::tell_of_few(const std::string& first, std::size_t people) {
  if (is_mixed_ || people == 0 || people >= kManyPeople) return;
  told_.emplace_back(first,
                     fmt::format("and the files next to it are named the way Canvas names files, but by the names "
                                 "of {} only: if Canvas did not name them, one student may have",
                                 people == 1 ? "one person" : fmt::format("{} people", people)));
}

ClassNames::Namesake ClassNames::doubt_namesake(const std::string& stem, const std::vector<std::string>& files,
                                                const std::set<std::string>& proven) {
  std::set<std::string> students;
  for (const std::string& name : files) {
    const Owner owner = owner_of(name).owner;
    if (is_canvas(owner)) students.insert(owner.student);
  }
  // What platforms call their zips tells nobody's name, though somebody may be called so.
  const std::string letters = name_letters(stem);
  if (students.empty() || is_mixed_ || letters == name_letters("submissions")) return Namesake::none;
  const auto is_namesake = [&](const std::string& student) {
    return name_letters(student) == letters || name_letters(student.substr(0, student.rfind(" ("))) == letters;
  };
  if (std::none_of(students.begin(), students.end(), is_namesake)) return Namesake::none;
  if (students.size() >= kManyPeople) {
    namesake_ = ", although it is named like one";
    return Namesake::none;
  }
  if (students.size() > 1) return Namesake::among_few;
  namesake_ = ", but it is named like one, so its marks and times do not count";
  alone_ = proven.contains(*students.begin()) ? Alone::proven : Alone::unproven;
  return Namesake::alone;
}

// Adds a line about files such as ada_vector-add.cu next to the folder ada/. Each of them goes to the row of Ada,
// whoever wrote it.
void ClassNames::tell_of_beside(const std::vector<std::string>& files, const std::vector<std::string>& folders) {
  std::set<std::string> owners;
  for (const std::string& folder : folders) owners.insert(owner_of_folder(folder).owner.student);
  std::vector<std::string> beside;
  for (const std::string& name : files) {
    if (!(is_source(name) || is_zip(name)) || is_chapters_alone(name, chapters_)) continue;
    const NamedFile named = owner_of(name);
    if (named.by != NamedBy::platform && owners.contains(named.owner.student)) beside.push_back(name);
  }
  if (beside.empty()) return;
  told_.emplace_back(
      beside.front(),
      fmt::format(
          "{} treated as a hand-in of the student whose folder has that name: if it is somebody else's, rename it",
          beside.size() > 1 ? fmt::format("and {} more files are each", beside.size() - 1) : "is"));
}

// Adds a line about names such as "ada_vector-add (1).cu", "Ada_Vector_Add.cu" or "vector-add_ada.cu": the student in
// such a name may already have another row.
void ClassNames::tell_of_otherwise(const std::vector<std::string>& files) {
  std::vector<std::string> otherwise;
  for (const std::string& name : files) {
    const bool is_file = is_source(name) || is_zip(name);
    if (is_file && owner_of(name).by == NamedBy::name && chapter_of_file(name, chapters_) &&
        !beside_chapter(name, chapters_).empty())
      otherwise.push_back(name);
  }
  if (otherwise.empty()) return;
  const bool are_several = otherwise.size() > 1;
  told_.emplace_back(otherwise.front(),
                     fmt::format("{} not named STUDENT_CHAPTER.cu, so {} under the whole name: if one belongs to a "
                                 "student with another row, rename it",
                                 are_several ? fmt::format("and {} more are", otherwise.size() - 1) : "is",
                                 are_several ? "each has a row" : "it has a row"));
}

// Tells of Blackboard's names, COURSEWORK_LOGIN_attempt_TIME_REST, because the login is not read, so each attempt has a
// row of its own.
void ClassNames::tell_of_blackboard(const std::vector<std::string>& files) {
  static const Pattern form(R"(_attempt_\d{4}-\d{2}-\d{2}-\d{2}-\d{2}-\d{2}[_.])");
  constexpr std::size_t kMostBytes = 300;
  std::vector<std::string> named;
  for (const std::string& name : files) {
    if (name.size() <= kMostBytes && form.search(name)) named.push_back(name);
  }
  if (named.empty()) return;
  told_.emplace_back(named.front(),
                     fmt::format("is named the way Blackboard names files{}: such names are not read, so each attempt "
                                 "has a row of its own; put each student's files into a folder named after the student",
                                 named.size() > 1 ? fmt::format(", and so are {} more", named.size() - 1) : ""));
}

std::string ClassNames::doubtful_beside(const std::vector<std::string>& files,
                                        const std::vector<std::string>& folders) const {
  std::set<std::string> canvas, others;  // students
  std::string plain, other;
  bool has_believed = false;
  for (const std::string& name : files) {
    const std::string stem = fs::path(name).stem().string();
    const bool is_chapters =
        std::find(chapters_.begin(), chapters_.end(), stem) != chapters_.end() || is_chapters_alone(name, chapters_);
    if (is_chapters || !(is_source(name) || is_zip(name))) continue;
    const NamedFile named = owner_of(name);
    const bool is_platforms = named.by == NamedBy::platform, is_moodles = is_participants(named.owner.lms_id);
    if (!is_platforms && plain.empty()) plain = name;
    if (is_moodles && other.empty()) other = name;
    has_believed = has_believed || (is_platforms && !is_moodles);
    if (is_platforms) (is_moodles ? others : canvas).insert(named.owner.student);
  }
  for (const std::string& name : folders) {
    const NamedFile named = roofwalk::owner_of_folder(name);
    const bool is_marked = named.owner.mark != LateMark::none;
    has_believed = has_believed || is_marked;
    // The folder may be from a Canvas zip that was unpacked.
    const auto mark = is_marked ? std::nullopt : canvas_mark(name);
    const bool is_canvas = is_marked || mark;
    if (!is_canvas && other.empty()) other = name;
    (is_canvas ? canvas : others).insert(mark ? owner_with_id(mark->name, mark->id).student : named.owner.student);
  }
  if (has_believed && !plain.empty()) return plain;
  return has_believed && others.size() >= canvas.size() ? other : "";
}

NamedFile ClassNames::believed(NamedFile named) const {
  const bool is_alone = alone_ != Alone::no, has_number = is_persons(named.owner.lms_id);
  const bool is_doubted = is_mixed_ || alone_ == Alone::unproven;
  // If all names are one student's, only a mark that says "on time" is doubted; one that says "late" is believed.
  const bool is_marked = !is_mixed_ && !(is_alone && named.owner.mark == LateMark::on_time);
  if (is_doubted && has_number) {
    if (proven_.contains(named.owner.student)) named.owner.student.replace(named.owner.student.size() - 1, 1, "?)");
    named.owner.lms_id = kUnproven + named.owner.lms_id;
  }
  if (!is_marked) named.owner.mark = LateMark::none;
  return named;
}

NamedFile ClassNames::owner_of(const std::string& name) const {
  const auto canvas = is_moodles_ && moodle_mark(name) ? std::nullopt : canvas_.of(name);
  return believed(canvas ? named_by_canvas(*canvas) : owner_of_file(name, chapters_));
}

NamedFile ClassNames::owner_of_folder(const std::string& name) const {
  return believed(roofwalk::owner_of_folder(name));
}

NamedFile owner_of_folder(const std::string& name) {
  if (const auto moodle = moodle_mark(name)) {
    NamedFile named = named_by_moodle(*moodle);
    named.rest = name;
    return named;
  }
  // Some programs make such a folder from a zip, or from a backslash in a learner's file name. But people name folders
  // like this, too, so only a name with the late mark is taken for Canvas'.
  if (const auto canvas = CanvasNames({name}).of(name); canvas && canvas->is_late) return named_by_canvas(*canvas);
  return {{student_name(name), "", {}}, name, NamedBy::name};
}

std::string plain_number_of(const std::string& lms_id) {
  const std::string number = number_of(lms_id);
  return number.empty() ? "" : plain_name(number);
}

std::string plain_name(const std::string& name) {
  constexpr std::size_t kMostBytes = 200;
  std::string text;
  for (std::size_t i = 0; i < name.size();) {
    const Character one = character_at(name, i);
    if (text.size() + one.bytes > kMostBytes) {
      text += "...";
      break;
    }
    text += !one.code ? "\xef\xbf\xbd" : is_harmless(*one.code) ? name.substr(i, one.bytes) : "?";
    i += one.bytes;
  }
  const bool has_letters = std::any_of(text.begin(), text.end(), [](char c) { return c > ' '; });
  return has_letters || !name_letters(text).empty() ? text : "?";
}

std::string student_name(const std::string& name) {
  const std::string plain = plain_name(name);
  // Names that already look as if they ended in such a hash also get one. Otherwise, somebody could choose as a name
  // what another student's name becomes with its hash.
  const std::size_t mark = plain.rfind(kHashMark);
  const bool looks_hashed = mark != std::string::npos && plain.size() == mark + kHashMark.size() + kHashDigits;
  return plain == name && !looks_hashed ? plain : plain + hash_of(name);
}

std::string without_hash(const std::string& student) {
  const std::size_t mark = student.rfind(kHashMark);
  if (mark == std::string::npos || student.size() != mark + kHashMark.size() + kHashDigits) return student;
  if (student.find_first_not_of("0123456789abcdef", mark + kHashMark.size()) != std::string::npos) return student;
  const std::string plain = student.substr(0, mark);
  const bool is_lost = plain.find("\xef\xbf\xbd") != std::string::npos || plain.ends_with("...");
  return is_lost ? student : plain;
}

}  // namespace roofwalk
