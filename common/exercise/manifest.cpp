#include "common/exercise/manifest.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>

#include "common/record/fault_names.h"

namespace roofwalk {
namespace {

constexpr std::size_t kMaxNameLength = 32;

// Reads one manifest. Each step returns early with an Error that contains the line.
class ManifestReader {
 public:
  explicit ManifestReader(std::string file) : file_(std::move(file)) {}

  Result<Chapter> read(const toml::table& root) {
    ROOFWALK_TRY_STATUS(
        only_keys(root, {"name", "title", "summary", "min_compute_capability", "unit", "roof", "starter", "fault",
                         "baseline", "starter_gap", "correctness", "measured", "goal", "hint"}));
    ROOFWALK_TRY(chapter_.name, text(root, "name"));
    ROOFWALK_TRY_STATUS(check_name(root));
    ROOFWALK_TRY(chapter_.title, text(root, "title"));
    if (root.contains("summary")) {
      ROOFWALK_TRY(chapter_.summary, text(root, "summary"));
    }
    ROOFWALK_TRY_STATUS(read_compute_capability(root));
    ROOFWALK_TRY_STATUS(read_roof(root));
    ROOFWALK_TRY_STATUS(read_unit(root));
    ROOFWALK_TRY_STATUS(read_starter_gap(root));
    ROOFWALK_TRY_STATUS(read_starter(root));
    ROOFWALK_TRY_STATUS(read_correctness(root));
    ROOFWALK_TRY_STATUS(read_measured(root));
    ROOFWALK_TRY_STATUS(read_goals(root));
    ROOFWALK_TRY_STATUS(read_hints(root));
    return std::move(chapter_);
  }

 private:
  using Members = std::vector<std::pair<std::string, const toml::node*>>;

  Error error(const toml::node& node, std::string message, std::string advice = {}) const {
    return Error{std::move(message), file_, static_cast<int>(node.source().begin.line), std::move(advice)};
  }

  // Returns a table's members in file order; the library sorts them by key.
  static Members in_order(const toml::table& table) {
    Members members;
    for (const auto& [key, node] : table) members.emplace_back(std::string(key.str()), &node);
    std::stable_sort(members.begin(), members.end(), [](const auto& a, const auto& b) {
      const auto &left = a.second->source().begin, &right = b.second->source().begin;
      return std::pair(left.line, left.column) < std::pair(right.line, right.column);
    });
    return members;
  }

  Status only_keys(const toml::table& table, std::initializer_list<std::string_view> known) const {
    for (const auto& [key, node] : in_order(table)) {
      if (std::find(known.begin(), known.end(), key) == known.end()) {
        return error(*node, fmt::format("unknown key `{}`", key),
                     fmt::format("known here: {}", fmt::join(known, ", ")));
      }
    }
    return kOk;
  }

  Result<std::string> text(const toml::table& table, std::string_view key) const {
    const toml::node* node = table.get(key);
    if (node == nullptr) return error(table, fmt::format("`{}` is missing", key));
    const auto value = node->value_exact<std::string>();
    if (!value || value->empty()) return error(*node, fmt::format("`{}` must be a non-empty string", key));
    return *value;
  }

  Status check_name(const toml::table& root) const {
    const std::string& name = chapter_.name;
    const bool sound = std::all_of(name.begin(), name.end(),
                                   [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
    if (sound && name.size() <= kMaxNameLength && name.front() != '-') return kOk;
    return error(*root.get("name"), fmt::format("`{}` is not a chapter's name", name),
                 fmt::format("at most {} lower-case letters, digits and dashes", kMaxNameLength));
  }

  Status read_compute_capability(const toml::table& root) {
    const toml::node* node = root.get("min_compute_capability");
    if (node == nullptr) return kOk;
    const auto value = node->value_exact<std::int64_t>();
    if (!value || *value < 10 || *value > 999) {
      return error(*node, "`min_compute_capability` must be a whole number, 75 for 7.5");
    }
    chapter_.min_compute_capability = static_cast<int>(*value);
    return kOk;
  }

  Status read_roof(const toml::table& root) {
    if (!root.contains("roof")) return kOk;
    ROOFWALK_TRY(const std::string name, text(root, "roof"));
    for (const ChapterRoof roof : {ChapterRoof::fp32, ChapterRoof::tensor_f16, ChapterRoof::memory}) {
      if (chapter_roof_name(roof) != name) continue;
      chapter_.roof = roof;
      return kOk;
    }
    return error(*root.get("roof"), "`roof` must be \"fp32\", \"tensor_f16\" or \"memory\"");
  }

  // The compute roofs are in FLOP/s, so work of another unit has none.
  Status read_unit(const toml::table& root) {
    if (!root.contains("unit")) return kOk;
    ROOFWALK_TRY(const std::string name, text(root, "unit"));
    const toml::node& node = *root.get("unit");
    const auto unit = unit_from_name(name);
    if (!unit) return error(node, "`unit` must be \"FLOP\", \"OP\" or \"key\"");
    if (*unit != WorkUnit::flop && chapter_.roof != ChapterRoof::memory) {
      return error(node,
                   fmt::format("the {} roof does not count `unit` \"{}\"", chapter_roof_name(chapter_.roof), name),
                   "with this unit goes roof = \"memory\"");
    }
    chapter_.unit = *unit;
    return kOk;
  }

  // Reads `starter_gap = 3` or `starter_gap = { default = 3, rtx4090 = 1 }`.
  Status read_starter_gap(const toml::table& root) {
    const toml::table* by_machine = table_of(root, "starter_gap");
    if (by_machine != nullptr && !by_machine->contains("default"))
      return error(*by_machine, "`starter_gap` needs a ratio called `default`");
    const auto read = [&](const toml::table& table, std::string_view key, double& into) -> Status {
      ROOFWALK_TRY(const auto gap, ratio(table, key));
      if (gap && *gap < 1) return error(*table.get(key), fmt::format("`{}` must be a ratio of at least 1", key));
      if (gap) into = *gap;
      return kOk;
    };
    if (by_machine == nullptr) return read(root, "starter_gap", chapter_.starter_gap);
    for (const auto& [machine, unused] : *by_machine) {
      const std::string name(machine.str());
      ROOFWALK_TRY_STATUS(
          read(*by_machine, name, name == "default" ? chapter_.starter_gap : chapter_.starter_gaps_on[name]));
    }
    return kOk;
  }

  // Reads `starter = "fault"`, `fault = "race"` and `baseline = "reference.cu"`, which go together.
  Status read_starter(const toml::table& root) {
    std::string ends = "correct";
    if (root.contains("starter")) {
      ROOFWALK_TRY(ends, text(root, "starter"));
      if (ends != "correct" && ends != "fault")
        return error(*root.get("starter"), "`starter` must be \"correct\" or \"fault\"");
    }
    if (ends == "correct") {
      for (const char* key : {"fault", "baseline"}) {
        if (root.contains(key)) return error(*root.get(key), fmt::format("`{}` goes with starter = \"fault\"", key));
      }
      return kOk;
    }
    FaultyStarter& starter = chapter_.faulty_starter.emplace();
    ROOFWALK_TRY(starter.kind, text(root, "fault"));
    const auto kinds = fault_names();
    if (std::find(kinds.begin(), kinds.end(), starter.kind) == kinds.end()) {
      return error(*root.get("fault"), fmt::format("`{}` is not a kind of fault", starter.kind),
                   fmt::format("one of: {}", fmt::join(kinds, ", ")));
    }
    ROOFWALK_TRY(starter.baseline, text(root, "baseline"));
    const std::filesystem::path file = starter.baseline;
    if (file.has_parent_path() || file.extension() != ".cu" || file == "kernel.cu") {
      return error(*root.get("baseline"), "`baseline` must be a .cu file of the chapter's folder besides kernel.cu");
    }
    return kOk;
  }

  Result<std::int64_t> extent(const toml::node& node, const std::string& name) const {
    const auto value = node.value_exact<std::int64_t>();
    if (!value || *value < 1 || *value > INT32_MAX) {
      return error(node, fmt::format("`{}` must be a whole number from 1 to 2^31 - 1", name));
    }
    return *value;
  }

  const toml::table* table_of(const toml::table& root, std::string_view key) const {
    const toml::node* node = root.get(key);
    return node != nullptr && node->is_table() && !node->as_table()->empty() ? node->as_table() : nullptr;
  }

  // Reads "[correctness] m = [1, 31], n = [1, 33]": the i-th values form case i.
  Status read_correctness(const toml::table& root) {
    const toml::table* table = table_of(root, "correctness");
    if (table == nullptr)
      return error(root, "[correctness] is missing", "give each extent a list of small, odd values");
    std::vector<std::vector<std::pair<std::string, std::int64_t>>> cases;
    for (const auto& [name, node] : in_order(*table)) {
      const toml::array* values = node->as_array();
      if (values == nullptr || values->empty()) return error(*node, fmt::format("`{}` must be a list of values", name));
      if (cases.empty()) cases.resize(values->size());
      if (values->size() != cases.size()) {
        return error(*node, fmt::format("`{}` has {} values, but the extent before it has {}", name, values->size(),
                                        cases.size()));
      }
      for (std::size_t i = 0; i < cases.size(); ++i) {
        ROOFWALK_TRY(const std::int64_t value, extent(*values->get(i), name));
        cases[i].emplace_back(name, value);
      }
    }
    for (auto& values : cases) chapter_.correctness_sizes.emplace_back(std::move(values));
    return kOk;
  }

  // Reads "[measured] classroom = { n = 1048576 }": the same extents as in [correctness], in the same order.
  Status read_measured(const toml::table& root) {
    const toml::table* table = table_of(root, "measured");
    if (table == nullptr || !table->contains("default")) {
      return error(table != nullptr ? *table : root, "[measured] needs a size called `default`");
    }
    for (const auto& [machine, node] : in_order(*table)) {
      const toml::table* size = node->as_table();
      if (size == nullptr) return error(*node, fmt::format("`{}` must be a table of extents", machine));
      std::vector<std::pair<std::string, std::int64_t>> values;
      for (const auto& [name, unused] : chapter_.correctness_sizes.front().values()) {
        const toml::node* value = size->get(name);
        if (value == nullptr) return error(*node, fmt::format("`{}` lacks the extent `{}`", machine, name));
        ROOFWALK_TRY(const std::int64_t number, extent(*value, name));
        values.emplace_back(name, number);
      }
      if (size->size() != values.size()) {
        return error(*node, fmt::format("`{}` has an extent that [correctness] does not have", machine));
      }
      chapter_.measured_sizes.emplace(machine, Size(std::move(values)));
    }
    return kOk;
  }

  Result<std::optional<double>> ratio(const toml::table& table, std::string_view key) const {
    const toml::node* node = table.get(key);
    if (node == nullptr) return std::optional<double>();
    const auto value = node->value<double>();
    if (!value || !std::isfinite(*value) || *value <= 0) {
      return error(*node, fmt::format("`{}` must be a ratio above 0", key));
    }
    return std::optional(*value);
  }

  Result<std::string> level_of(const toml::table& table, Goal::What what) const {
    if (is_count(what)) {
      const toml::node* node = table.get("level");
      if (node == nullptr) return std::string();
      return error(*node, fmt::format("`{}` is a count and has no `level`", goal_what_name(what)));
    }
    ROOFWALK_TRY(std::string level, text(table, "level"));
    if (level != "dram" && level != "l2" && level != "l1")
      return error(*table.get("level"), "`level` must be \"dram\", \"l2\" or \"l1\"");
    if (what == Goal::What::sector_use && level != "l1")
      return error(*table.get("level"), "`sector_use` is counted at \"l1\"");
    return level;
  }

  // Refuses what no kernel can reach, or none can miss.
  Status check_reach(const toml::table& table, Goal::What what) const {
    using enum Goal::What;
    for (const char* key : {"pass", "ace"}) {
      const auto value = table[key].value<double>();
      if (!value) continue;
      if ((what == active_lanes || what == sm_active) && *value > 1)
        return error(*table.get(key), fmt::format("`{}` of `{}` is a share, at most 1", key, goal_what_name(what)));
      const bool is_over_least =
          is_unlike_starter(what) || what == shared_wavefronts_over_least || what == executed_over_useful;
      if (is_over_least && *value < 1)
        return error(*table.get(key), fmt::format("`{}` of `{}` is at least 1", key, goal_what_name(what)));
    }
    return kOk;
  }

  Result<Goal> read_goal(const toml::table& table) const {
    using enum Goal::What;
    ROOFWALK_TRY_STATUS(only_keys(table, {"axis", "level", "what", "pass", "ace", "on"}));
    Goal goal;
    goal.unit = chapter_.unit;
    goal.is_over_reference = chapter_.faulty_starter.has_value();
    ROOFWALK_TRY(const std::string axis, text(table, "axis"));
    if (axis != "right" && axis != "up") return error(*table.get("axis"), "`axis` must be \"right\" or \"up\"");
    goal.axis = axis == "right" ? Goal::Axis::right : Goal::Axis::up;

    ROOFWALK_TRY(const std::string what, text(table, "what"));
    const auto kinds = goal.axis == Goal::Axis::right
                           ? std::vector{ai_over_starter, ai_unlike_starter, share_of_algorithmic_ai, sector_use}
                           : std::vector{share_of_roof,
                                         share_of_peak,
                                         flops_over_starter,
                                         shared_wavefronts_over_least,
                                         active_lanes,
                                         executed_over_useful,
                                         atomics_per_element,
                                         sm_active,
                                         resident_warps_per_scheduler,
                                         shared_bytes_unlike_starter};
    const auto kind = std::find_if(kinds.begin(), kinds.end(), [&](auto k) { return goal_what_name(k) == what; });
    if (kind == kinds.end()) {
      std::string names;
      for (const auto k : kinds) names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", goal_what_name(k));
      return error(*table.get("what"), fmt::format("`what` of a goal {} must be one of {}", axis, names));
    }
    goal.what = *kind;
    ROOFWALK_TRY(goal.level, level_of(table, goal.what));
    if (goal.what == share_of_peak && chapter_.roof == ChapterRoof::memory)
      return error(*table.get("what"), "`share_of_peak` needs a flat roof, and `roof` is \"memory\"");
    if (goal.what == executed_over_useful && goal.unit == WorkUnit::key)
      return error(*table.get("what"), "`executed_over_useful` is of operations, and `unit` is \"key\"");
    ROOFWALK_TRY(goal.pass, ratio(table, "pass"));
    ROOFWALK_TRY(goal.ace, ratio(table, "ace"));
    if (!goal.pass && !goal.ace) return error(table, "a goal needs `pass`, `ace` or both");
    ROOFWALK_TRY_STATUS(check_reach(table, goal.what));
    ROOFWALK_TRY_STATUS(check_order(table, goal));
    ROOFWALK_TRY_STATUS(read_machines(table, goal));
    return goal;
  }

  Status check_order(const toml::table& table, const Goal& goal) const {
    if (!goal.pass || !goal.ace) return kOk;
    if (is_upper_bound(goal.what) && *goal.ace > *goal.pass) return error(table, "`ace` allows more than `pass`");
    if (!is_upper_bound(goal.what) && *goal.ace < *goal.pass) return error(table, "`ace` asks for less than `pass`");
    return kOk;
  }

  // Reads `on.NAME = { pass = 1.7, ace = 1.9 }`, the thresholds of a goal that differ on a machine.
  Status read_machines(const toml::table& table, Goal& goal) const {
    const toml::node* node = table.get("on");
    if (node == nullptr) return kOk;
    if (!node->is_table()) return error(*node, "`on` must hold a table of thresholds for each machine");
    for (const auto& [machine, entry] : *node->as_table()) {
      const toml::table* own = entry.as_table();
      if (own == nullptr || own->empty())
        return error(entry, fmt::format("`on.{}` must hold `pass`, `ace` or both", machine.str()));
      ROOFWALK_TRY_STATUS(only_keys(*own, {"pass", "ace"}));
      Goal there = goal;
      Thresholds& thresholds = goal.on[std::string(machine.str())];
      ROOFWALK_TRY(thresholds.pass, ratio(*own, "pass"));
      ROOFWALK_TRY(thresholds.ace, ratio(*own, "ace"));
      ROOFWALK_TRY_STATUS(check_reach(*own, goal.what));
      if (thresholds.pass) there.pass = thresholds.pass;
      if (thresholds.ace) there.ace = thresholds.ace;
      ROOFWALK_TRY_STATUS(check_order(*own, there));
    }
    return kOk;
  }

  Status read_goals(const toml::table& root) {
    const toml::node* node = root.get("goal");
    if (node == nullptr || !node->is_array_of_tables()) return error(root, "a chapter needs a [[goal]]");
    for (const toml::node& entry : *node->as_array()) {
      ROOFWALK_TRY(Goal goal, read_goal(*entry.as_table()));
      chapter_.goals.push_back(std::move(goal));
    }
    return kOk;
  }

  // Reads the ids of diagnoses in "for = ["over_fetch", "no_reuse"]", or "ace". Diagnoses are not checked here, because
  // the roofline layer defines them; `dev check` checks them.
  Result<std::vector<std::string>> causes_of_hint(const toml::table& table) const {
    std::vector<std::string> causes;
    const toml::node* node = table.get("for");
    if (node == nullptr) return causes;
    const toml::array* values = node->as_array();
    if (values == nullptr || values->empty()) return error(*node, "`for` must be a list of diagnoses");
    for (const toml::node& value : *values) {
      const auto cause = value.value_exact<std::string>();
      if (!cause || cause->empty()) return error(value, "`for` must be a list of diagnoses");
      causes.push_back(*cause);
    }
    return causes;
  }

  Status read_hints(const toml::table& root) {
    const toml::node* node = root.get("hint");
    if (node == nullptr || !node->is_array_of_tables()) return error(root, "a chapter needs a [[hint]]");
    for (const toml::node& entry : *node->as_array()) {
      const toml::table& table = *entry.as_table();
      ROOFWALK_TRY_STATUS(only_keys(table, {"text", "for"}));
      ROOFWALK_TRY(std::string words, text(table, "text"));
      ROOFWALK_TRY(std::vector<std::string> causes, causes_of_hint(table));
      chapter_.hints.push_back({std::move(words), std::move(causes)});
    }
    return kOk;
  }

  std::string file_;
  Chapter chapter_;
};

}  // namespace

Result<Chapter> parse_manifest(const std::string& text, const std::filesystem::path& file) {
  try {
    const toml::table root = toml::parse(text, file.string());
    return ManifestReader(file.string()).read(root);
  } catch (const toml::parse_error& error) {
    return Error{fmt::format("is not TOML: {}", error.description()), file.string(),
                 static_cast<int>(error.source().begin.line)};
  }
}

}  // namespace roofwalk
