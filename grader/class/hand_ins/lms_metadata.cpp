#include "grader/class/hand_ins/lms_metadata.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <string_view>

#include "common/base/json.h"
#include "common/base/pattern.h"

namespace roofwalk {
namespace {

std::string text_at(const YAML::Node& node, const char* key) {
  const YAML::Node value = node[key];
  return value && value.IsScalar() ? value.Scalar() : std::string();
}

// An id in Gradescope's metadata: the e-mail address, which Gradescope knows, or else the number that the student
// typed, who may have typed another student's, or an address.
struct Id {
  std::string text;
  bool is_proven = false;
};

Id id_of(const std::string& email, const std::string& sid) {
  return email.find('@') != std::string::npos ? Id{email, true} : Id{email.empty() ? sid : email, false};
}

// Two exports may write an address in other letters. What a student typed never looks like a proven address, which
// stands in round brackets behind the name.
Owner owner_of(const std::string& name, const Id& id) {
  if (id.is_proven) return owner_with_id(name, small_address(id.text));
  std::string typed = name;
  if (typed.find('@') != std::string::npos) {
    std::replace(typed.begin(), typed.end(), '(', '[');
    std::replace(typed.begin(), typed.end(), ')', ']');
  }
  if (id.text.empty()) return {student_name(typed), "", {}};
  Owner owner = owner_with_unproven_id(typed, id.text);
  if (id.text.find('@') != std::string::npos) owner.student.insert(owner.student.size() - 1, "?");
  return owner;
}

// The length of the line break at the start of the text; 0 if there is none. YAML 1.1, which Gradescope writes, has
// more kinds of line breaks than YAML 1.2, which yaml-cpp reads.
std::size_t break_at(std::string_view text) {
  for (const std::string_view one : {"\n", "\xe2\x80\xa8", "\xe2\x80\xa9", "\xc2\x85"}) {
    if (text.starts_with(one)) return one.size();
  }
  return 0;
}

// Calls visit(line, its line break) for each line of YAML 1.1.
template <class Visit>
void for_each_line(std::string_view text, Visit&& visit) {
  while (!text.empty()) {
    std::size_t end = 0, bytes = 0;
    while (true) {
      end = std::min(text.find_first_of("\n\xe2\xc2", end), text.size());
      bytes = break_at(text.substr(end));
      if (bytes != 0 || end == text.size()) break;
      ++end;
    }
    visit(text.substr(0, end), text.substr(end, bytes));
    text.remove_prefix(end + bytes);
  }
}

// Whether this program reads the value of this key of a submission.
bool is_read(std::string_view key) { return key.starts_with(":submitters:") || key.starts_with(":created_at:"); }

// Converts the text for a parser of YAML 1.2. Unless `all` is set, leaves out keys of a submission that are not read,
// such as the output of its autograder: errors in them then do no harm, and parsing, which takes 50 times the text's
// memory, needs less. A key's value is indented deeper than the key, except for lists and empty lines, so nothing in a
// value can look like the next key. Some line breaks exist only in YAML 1.1; a plain one is added after each of them,
// because a parser of YAML 1.2 would otherwise join lines, and could read one student's name as another's.
std::string for_yaml_1_2(std::string_view yaml, bool all) {
  constexpr std::size_t kIndent = 2;  // indentation of a submission's keys
  std::string text;
  bool is_left_out = false;
  for_each_line(yaml, [&](std::string_view line, std::string_view line_break) {
    const std::size_t indent = line.find_first_not_of(' ');
    const bool is_blank = line.find_first_not_of(" \r") == std::string_view::npos;
    if (!is_blank && indent < kIndent) is_left_out = false;
    if (!is_blank && indent == kIndent && line[kIndent] != '-')
      is_left_out = !all && line[kIndent] == ':' && !is_read(line.substr(kIndent));
    if (is_left_out) return;
    text += line;
    if (line_break.size() > 1 && !is_blank) text += line_break;
    if (!line_break.empty()) text += '\n';
  });
  return text;
}

Result<LmsRecords> records_in(const std::string& yaml) {
  LmsRecords records;
  try {
    const YAML::Node root = YAML::Load(yaml);
    if (!root.IsMap()) return Error{"holds no list of submissions"};
    for (const auto& entry : root) {
      if (!entry.first.IsScalar() || !(entry.second.IsMap() || entry.second.IsNull())) continue;
      LmsRecord& record = records[entry.first.Scalar()];
      record.created_at_s = moment_of(text_at(entry.second, ":created_at"));
      const YAML::Node list = entry.second[":submitters"];
      if (!list || !list.IsSequence()) continue;
      for (const YAML::Node& one : list) {
        if (!one.IsMap()) continue;
        const std::string name = text_at(one, ":name");
        const Id id = id_of(text_at(one, ":email"), text_at(one, ":sid"));
        if (!name.empty() || !id.text.empty()) record.owners.push_back(owner_of(name, id));
      }
    }
  } catch (const YAML::Exception& trouble) {
    return Error{fmt::format("is not YAML: {}", trouble.what())};
  }
  return records;
}

// What to say of students without an address who have handed in several times; empty if none have.
std::string repeated_owners(const LmsRecords& records) {
  std::map<std::string, int> submissions;  // by student
  for (const auto& [folder, record] : records) {
    std::set<std::string> members;  // two of one name in a group have the same files
    for (const Owner& owner : record.owners) {
      if (!is_persons(owner.lms_id) && members.insert(owner.student).second) ++submissions[owner.student];
    }
  }
  std::erase_if(submissions, [](const auto& one) { return one.second < 2; });
  if (submissions.empty()) return "";
  const auto& [student, count] = *submissions.begin();
  const std::size_t more = submissions.size() - 1;
  return fmt::format(
      "has {} submissions of {}{} without an e-mail address: students type names and numbers themselves, "
      "so look whether they are one person's",
      count, student, more == 0 ? "" : fmt::format(", and several of {} more students,", more));
}

// What to say of students who have typed the same number; empty if none have.
std::string shared_numbers(const LmsRecords& records) {
  std::map<std::string, std::set<std::string>> students;  // by typed number
  for (const auto& [folder, record] : records) {
    for (const Owner& owner : record.owners) {
      const std::string number = number_of(owner.lms_id);
      if (!number.empty() && !is_persons(owner.lms_id)) students[number].insert(owner.student);
    }
  }
  std::erase_if(students, [](const auto& one) { return one.second.size() < 2; });
  if (students.empty()) return "";
  const auto& [number, sharing] = *students.begin();
  const std::size_t more = students.size() - 1;
  return fmt::format("gives {} the student number {}{}: students type it themselves, so it names none of them",
                     fmt::join(sharing, " and "), plain_name(number),
                     more == 0 ? "" : fmt::format(", and {} more numbers to several students", more));
}

}  // namespace

std::optional<std::int64_t> moment_of(const std::string& text) {
  static const Pattern form(
      R"((\d{4})-(\d{2})-(\d{2})[T ](\d{2}):(\d{2}):(\d{2})(?:\.\d{1,12})? ?(Z|UTC|([+-])(\d{2}):?(\d{2})))");
  constexpr std::size_t kMostBytes = 64;
  if (text.size() > kMostBytes) return std::nullopt;
  const auto groups = form.match(text);
  if (!groups) return std::nullopt;
  const auto number = [&](std::size_t group) { return std::stoi((*groups)[group]); };
  using namespace std::chrono;
  const year_month_day day(year(number(1)), month(static_cast<unsigned>(number(2))),
                           std::chrono::day(static_cast<unsigned>(number(3))));
  if (!day.ok()) return std::nullopt;
  auto moment = sys_days(day).time_since_epoch() + hours(number(4)) + minutes(number(5)) + seconds(number(6));
  if (const std::string& sign = (*groups)[8]; !sign.empty()) {
    const auto offset = hours(number(9)) + minutes(number(10));
    moment += sign == "-" ? offset : -offset;
  }
  return duration_cast<seconds>(moment).count();
}

Result<LmsRecords> read_gradescope_export(const std::string& yaml) {
  std::string read = for_yaml_1_2(yaml, /*all=*/false);
  if (read.size() > kMostFileBytes) return Error{fmt::format("is larger than {} bytes", kMostFileBytes)};
  auto records = records_in(read);
  if (records || yaml.size() > kMostFileBytes) return records;
  // A value that is read may be an alias (`*1`) of a value that was left out. So now the text is parsed with all keys.
  return records_in(read = for_yaml_1_2(yaml, /*all=*/true));
}

Result<LmsRecord> read_gradescope_container(const std::string& text) {
  const Json json = parse_json(text);
  if (!json.is_object()) return Error{"is not a JSON object"};
  LmsRecord record;
  record.created_at_s = moment_of(json.text_of("created_at"));
  std::string names;
  Id id;
  for (const Json& user : json.value("users", Json::array())) {
    if (!user.is_object()) continue;
    const std::string name = user.text_of("name"), sid = user.text_of("sid"), email = user.text_of("email");
    if (name.empty() && sid.empty() && email.empty()) continue;
    if (id.text.empty()) id = id_of(email, sid);
    names += (names.empty() ? "" : ", ") + (name.empty() ? id_of(email, sid).text : name);
  }
  if (!names.empty()) record.owners.push_back(owner_of(names, id));
  return record;
}

Result<LmsRecords> read_records(const std::vector<Found>& metadata, const std::string& top) {
  if (metadata.empty()) return LmsRecords();
  const Found& file = metadata.front();
  const std::string& name = file.parts.front();
  const auto read = [&]() -> Result<LmsRecords> {
    if (metadata.size() > 1) return Error{"is there more than once"};
    std::size_t cost_bytes = 0;
    ROOFWALK_TRY(const std::string text,
                 file.read(name == kGradescopeExport ? kMostExportBytes : kMostFileBytes, cost_bytes));
    if (name == kGradescopeExport) return read_gradescope_export(text);
    ROOFWALK_TRY(const LmsRecord record, read_gradescope_container(text));
    return LmsRecords{{"submission", record}};
  };
  auto result = read();
  if (result) return result;
  return Error{.message = result.error().message + ", so no name or time can be read from it",
               .file = top + "/" + name,
               .advice =
                   "export the class again, or remove this file: then the folders' names and the files' times "
                   "count; add --each if all of it is one student's"};
}

std::vector<std::string> doubts_about(const LmsRecords& records) {
  std::vector<std::string> doubts{shared_numbers(records), repeated_owners(records)};
  std::erase(doubts, "");
  return doubts;
}

}  // namespace roofwalk
