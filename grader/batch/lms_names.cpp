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

// How many bytes of it are letters, digits and `_`, which Canvas leaves of a name; those of other characters are taken
// for letters.
std::size_t word_bytes(std::string_view text) {
  const auto end = std::find_if(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return std::isalnum(byte) == 0 && byte < 0x80 && c != '_';
  });
  return static_cast<std::size_t>(end - text.begin());
}

// NAME with its mark of lateness, which older releases of Canvas write in small letters.
Marked canvas_name(const std::string& text) {
  for (const std::string_view late : {"_LATE", "_late"}) {
    if (text.ends_with(late)) return {text.substr(0, text.size() - late.size()), "", "", true};
  }
  return {text, "", ""};
}

// anon_FIVE_FILE_REST, with LATE_ before it where it is late: a hand-in to an assignment that is graded anonymously.
std::optional<Marked> anonymous_mark(const std::string& text) {
  constexpr std::string_view kLate = "LATE_", kAnonymous = "anon_";
  constexpr std::size_t kIdBytes = 5;
  const bool is_late = text.starts_with(kLate);
  const std::string_view said = std::string_view(text).substr(is_late ? kLate.size() : 0);
  const std::size_t end = kAnonymous.size() + kIdBytes;
  if (!said.starts_with(kAnonymous) || said.size() <= end || said[end] != '_') return std::nullopt;
  const std::string_view id = said.substr(kAnonymous.size(), kIdBytes);
  const std::size_t digits = digits_at(said, end + 1), rest = end + 1 + digits + 1;
  const bool is_id = word_bytes(id) == kIdBytes && id.find('_') == std::string_view::npos;
  if (!is_id || digits == 0 || rest > said.size() || said[rest - 1] != '_') return std::nullopt;
  return Marked{std::string(said.substr(0, end)), "", std::string(said.substr(rest)), is_late};
}

// NAME_ID_FILE_REST or NAME_LATE_ID_FILE_REST, and NAME_ID_text.html and NAME_ID_link.html for what is no file
// (lib/content_zipper.rb of Canvas). The first numbers are Canvas': it leaves none between underscores in a name.
std::optional<Marked> canvas_mark(const std::string& text) {
  if (auto anonymous = anonymous_mark(text)) return anonymous;
  const std::size_t name_end = word_bytes(text);
  for (std::size_t at = text.find('_'); at < name_end; at = text.find('_', at + 1)) {
    const std::size_t digits = digits_at(text, at + 1), second = at + 1 + digits;
    if (digits == 0 || second >= text.size() || text[second] != '_') continue;
    const std::size_t more = digits_at(text, second + 1), rest = second + 1 + more + 1;
    const std::string_view behind = std::string_view(text).substr(second);
    const bool is_file = more > 0 && rest <= text.size() && text[rest - 1] == '_';
    if (!is_file && behind != "_text.html" && behind != "_link.html") continue;
    Marked marked = canvas_name(text.substr(0, at));
    marked.id = text.substr(at + 1, digits);
    marked.rest = is_file ? text.substr(rest) : text.substr(second + 1);
    return marked;
  }
  return std::nullopt;
}

// NAME_ID_assignsubmission_file_REST; REST may be empty, and its dash missing. No name has a slash of either kind or a
// `_`: Moodle takes the ones out and makes spaces of the others (mod/assign/locallib.php), so what stands behind the
// first `_` is Moodle's, and any further mark the learner's.
std::optional<Marked> moodle_mark(const std::string& text) {
  const std::size_t at = text.find('_');
  if (at == std::string::npos || at == 0 || text.find_first_of("/\\") < at) return std::nullopt;
  const std::size_t digits = digits_at(text, at + 1);
  const std::string_view behind = std::string_view(text).substr(at + 1 + digits);
  for (const std::string_view kind : {"_assignsubmission_file", "_assignsubmission_onlinetext"}) {
    if (digits == 0 || !behind.starts_with(kind)) continue;
    const std::string_view rest = behind.substr(kind.size());
    if (!rest.empty() && rest.front() != '_') continue;
    return Marked{text.substr(0, at), text.substr(at + 1, digits), std::string(rest.substr(rest.empty() ? 0 : 1))};
  }
  return std::nullopt;
}

// Long enough that nobody finds another name with the same one.
constexpr std::size_t kHashDigits = 16;
constexpr std::string_view kHashMark = " ~";

// How Moodle's own tables write a participant's number.
const std::string kParticipant = "Participant ";

std::string hash_of(const std::string& text) {
  return std::string(kHashMark) + sha256_hex(text).substr(0, kHashDigits);
}

NamedFile named_by_canvas(const Marked& mark) {
  Owner owner = mark.id.empty() ? Owner{student_name(mark.name), "", {}} : owner_with_id(mark.name, mark.id);
  owner.mark = mark.is_late ? LateMark::late : LateMark::on_time;
  return {owner, mark.rest, NamedBy::platform};
}

NamedFile named_by_moodle(const Marked& mark) {
  Owner owner = owner_with_id(mark.name, mark.id);
  owner.lms_id = kParticipant + mark.id;
  return {owner, mark.rest, NamedBy::platform};
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

bool is_persons(const std::string& lms_id) { return !lms_id.empty() && !lms_id.starts_with(kParticipant); }

NamedFile owner_of_file(const std::string& name, const std::vector<std::string>& chapters) {
  const auto moodle = moodle_mark(name);
  if (moodle && !moodle->rest.empty()) return named_by_moodle(*moodle);
  if (const auto canvas = canvas_mark(name)) return named_by_canvas(*canvas);
  // STUDENT_CHAPTER.cu: what stands before the chapter's name, without the separator.
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

NamedFile owner_of_folder(const std::string& name) {
  if (const auto moodle = moodle_mark(name)) {
    NamedFile named = named_by_moodle(*moodle);
    named.rest = name;
    return named;
  }
  // What some programs make of a backslash in a learner's own name. Without the mark people call folders so, too.
  if (const auto canvas = canvas_mark(name); canvas && canvas->is_late) return named_by_canvas(*canvas);
  return {{student_name(name), "", {}}, name, NamedBy::name};
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
