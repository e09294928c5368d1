#include "grader/batch/lms_names.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "common/base/hash.h"
#include "grader/characters.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

// Small letters, with each run of what is neither letter nor digit as one dash.
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

// Whether `name` stands in `text` with dashes, or the ends, around it; the place.
std::size_t place_of(const std::string& text, const std::string& name) {
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    const bool begins = at == 0 || text[at - 1] == '-',
               ends = at + name.size() == text.size() || text[at + name.size()] == '-';
    if (begins && ends) return at;
  }
  return std::string::npos;
}

// How many digits begin at `at`; 0 for more than a platform's number has.
std::size_t digits_at(std::string_view text, std::size_t at) {
  constexpr std::size_t kMostDigits = 18;
  std::size_t count = 0;
  while (at + count < text.size() && text[at + count] >= '0' && text[at + count] <= '9') ++count;
  return count <= kMostDigits ? count : 0;
}

// NAME, its number, and what stands behind the platform's mark.
struct Marked {
  std::string name, id, rest;
  bool is_late = false;
};

// NAME_ID_FILE_REST or NAME_LATE_ID_FILE_REST: Canvas leaves only letters and digits of a name.
std::optional<Marked> canvas_mark(const std::string& text) {
  constexpr std::string_view kLate = "_LATE";
  std::size_t at = text.find('_');
  if (at == std::string::npos || at == 0) return std::nullopt;
  Marked marked{text.substr(0, at), "", ""};
  marked.is_late = text.compare(at, kLate.size(), kLate) == 0;
  if (marked.is_late) at += kLate.size();
  for (const bool is_student : {true, false}) {
    const std::size_t digits = at < text.size() && text[at] == '_' ? digits_at(text, at + 1) : 0;
    if (digits == 0) return std::nullopt;
    if (is_student) marked.id = text.substr(at + 1, digits);
    at += 1 + digits;
  }
  if (at >= text.size() || text[at] != '_') return std::nullopt;
  marked.rest = text.substr(at + 1);
  return marked;
}

// NAME_ID_assignsubmission_file_REST, each place where it can be read so; REST may be empty, and its dash missing.
std::vector<Marked> moodle_marks(const std::string& text) {
  std::vector<Marked> marks;
  for (const std::string_view kind : {"_assignsubmission_file", "_assignsubmission_onlinetext"}) {
    for (std::size_t at = text.find(kind); at != std::string::npos; at = text.find(kind, at + 1)) {
      std::size_t digits = 0;
      while (digits < at && text[at - digits - 1] >= '0' && text[at - digits - 1] <= '9') ++digits;
      const std::size_t end = at + kind.size();
      const bool ends = end == text.size() || text[end] == '_';
      if (!ends || digits_at(text, at - digits) == 0 || at < digits + 2 || text[at - digits - 1] != '_') continue;
      marks.push_back({text.substr(0, at - digits - 1), text.substr(at - digits, digits),
                       end < text.size() ? text.substr(end + 1) : ""});
    }
  }
  return marks;
}

// Long enough that nobody finds another name with the same one.
constexpr std::size_t kHashDigits = 16;
constexpr std::string_view kHashMark = " ~";

std::string hash_of(const std::string& text) {
  return std::string(kHashMark) + sha256_hex(text).substr(0, kHashDigits);
}

NamedFile named_by(const Marked& canvas) {
  Owner owner = owner_with_id(canvas.name, canvas.id);
  owner.mark = canvas.is_late ? LateMark::late : LateMark::on_time;
  return {owner, canvas.rest, NamedBy::platform};
}

}  // namespace

Owner owner_with_id(const std::string& name, const std::string& id) {
  // The last bracket that opens is ours.
  std::string shown = student_name(id);
  if (shown.find_first_of("()") != std::string::npos) {
    std::replace(shown.begin(), shown.end(), '(', '[');
    std::replace(shown.begin(), shown.end(), ')', ']');
    shown += hash_of(id);
  }
  return {(name.empty() ? "" : student_name(name) + " ") + "(" + shown + ")", id, {}};
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

std::optional<NamedFile> owner_of_file(const std::string& name, const std::vector<std::string>& chapters) {
  const auto moodle = moodle_marks(name);
  const auto canvas = canvas_mark(name);
  if (moodle.size() + (canvas ? 1 : 0) > 1) return std::nullopt;
  if (canvas) return named_by(*canvas);
  if (moodle.size() == 1 && !moodle.front().rest.empty())
    return NamedFile{owner_with_id(moodle.front().name, moodle.front().id), moodle.front().rest, NamedBy::platform};
  // STUDENT_CHAPTER.cu: what stands before the chapter's name, without the separator.
  const std::string stem = fs::path(name).stem().string();
  for (const std::string& chapter : chapters) {
    if (stem.size() <= chapter.size() || !stem.ends_with(chapter)) continue;
    const std::size_t before = stem.size() - chapter.size();
    if (std::string_view("_-. ").find(stem[before - 1]) == std::string_view::npos) continue;
    const std::string student = stem.substr(0, before - 1);
    if (!student.empty()) return NamedFile{{student_name(student), "", {}}, name, NamedBy::student_and_chapter};
  }
  return NamedFile{{student_name(stem), "", {}}, name, NamedBy::name};
}

std::optional<NamedFile> owner_of_folder(const std::string& name) {
  const auto canvas = canvas_mark(name);
  const auto moodle = moodle_marks(name);
  const bool is_canvas = canvas && canvas->is_late;  // what some programs make of a backslash in a learner's own name
  if (moodle.size() + (is_canvas ? 1 : 0) > 1) return std::nullopt;
  if (is_canvas) return named_by(*canvas);
  if (moodle.size() == 1)
    return NamedFile{owner_with_id(moodle.front().name, moodle.front().id), name, NamedBy::platform};
  return NamedFile{{student_name(name), "", {}}, name, NamedBy::name};
}

std::string name_letters(const std::string& name) {
  // Of U+00C0 to U+017F (Latin-1 Supplement, Latin Extended-A), by code; a space is no letter.
  constexpr std::string_view kBase =
      "aaaaaaaceeeeiiiidnooooo ouuuuytsaaaaaaaceeeeiiiidnooooo ouuuuyty"
      "aaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiiiiijjkkkllllllllllnnnnnnnnnoooooooorrrrrrssssssssttttttuuuuuuuu"
      "uuuuww"
      "yyyzzzzzzs";
  static_assert(kBase.size() == 0x180 - 0xc0);
  std::string letters;
  for (std::size_t i = 0; i < name.size();) {
    const Character one = character_at(name, i);
    const char32_t code = one.code.value_or(0xfffd);
    if (code < 0x80) {
      if (std::isalnum(static_cast<int>(code)) != 0) letters += static_cast<char>(std::tolower(static_cast<int>(code)));
    } else if (code >= 0xc0 && code < 0xc0 + kBase.size()) {
      const char base = kBase[code - 0xc0];
      if (base != ' ') letters += base;
    } else if (code < 0x300 || code > 0x36f) {  // Combining Diacritical Marks
      letters += name.substr(i, one.bytes);
    }
    i += one.bytes;
  }
  return letters;
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
  return text.empty() ? "?" : text;
}

std::string student_name(const std::string& name) {
  const std::string plain = plain_name(name);
  // Who is called as such a hash is written gets one, too, lest somebody choose another's.
  const std::size_t mark = plain.rfind(kHashMark);
  const bool looks_hashed = mark != std::string::npos && plain.size() == mark + kHashMark.size() + kHashDigits;
  return plain == name && !looks_hashed ? plain : plain + hash_of(name);
}

}  // namespace roofwalk
