#include "grader/batch/lms_metadata.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <chrono>

#include "common/base/json.h"
#include "common/base/pattern.h"

namespace roofwalk {
namespace {

std::string text_at(const YAML::Node& node, const char* key) {
  const YAML::Node value = node[key];
  return value && value.IsScalar() ? value.Scalar() : std::string();
}

std::string text_at(const Json& json, const char* key) {
  const auto at = json.find(key);
  return at != json.end() && at->is_string() ? at->get<std::string>() : std::string();
}

// An address is Gradescope's; a number is what its student typed, who may type another's.
const std::string& id_of(const std::string& email, const std::string& sid) { return email.empty() ? sid : email; }

Owner owner_of(const std::string& name, const std::string& id) {
  return id.empty() ? Owner{student_name(name), "", {}} : owner_with_id(name, id);
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

Result<std::map<std::string, LmsRecord>> read_gradescope_export(const std::string& yaml) {
  std::map<std::string, LmsRecord> records;
  try {
    const YAML::Node root = YAML::Load(yaml);
    if (!root.IsMap()) return Error{"holds no list of submissions"};
    for (const auto& entry : root) {
      if (!entry.first.IsScalar() || !entry.second.IsMap()) continue;
      LmsRecord& record = records[entry.first.Scalar()];
      record.created_at_s = moment_of(text_at(entry.second, ":created_at"));
      const YAML::Node list = entry.second[":submitters"];
      if (!list || !list.IsSequence()) continue;
      for (const YAML::Node& one : list) {
        if (!one.IsMap()) continue;
        const std::string name = text_at(one, ":name"), id = id_of(text_at(one, ":email"), text_at(one, ":sid"));
        if (!name.empty() || !id.empty()) record.owners.push_back(owner_of(name, id));
      }
    }
  } catch (const YAML::Exception& trouble) {
    return Error{fmt::format("is not YAML: {}", trouble.what())};
  }
  return records;
}

Result<LmsRecord> read_gradescope_container(const std::string& text) {
  const Json json = parse_json(text);
  if (!json.is_object()) return Error{"is not a JSON object"};
  LmsRecord record;
  record.created_at_s = moment_of(text_at(json, "created_at"));
  std::string names, id;
  for (const Json& user : json.value("users", Json::array())) {
    if (!user.is_object()) continue;
    const std::string name = text_at(user, "name"), sid = text_at(user, "sid"), email = text_at(user, "email");
    if (name.empty() && sid.empty() && email.empty()) continue;
    if (id.empty()) id = id_of(email, sid);
    names += (names.empty() ? "" : ", ") + (name.empty() ? id_of(email, sid) : name);
  }
  if (!names.empty()) record.owners.push_back(owner_of(names, id));
  return record;
}

}  // namespace roofwalk
