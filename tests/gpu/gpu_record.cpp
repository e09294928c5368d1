#include "tests/gpu/gpu_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "common/base/json.h"
#include "common/base/pattern.h"

namespace roofwalk::test {
namespace {

const Json* find(const Json& json, std::initializer_list<const char*> path) {
  const Json* at = &json;
  for (const char* key : path) {
    at = at->member(key);
    if (at == nullptr) return nullptr;
  }
  return at;
}

std::string text_at(const Json& json, std::initializer_list<const char*> path) {
  const Json* found = find(json, path);
  return found != nullptr && found->is_string() ? found->get<std::string>() : std::string();
}

bool is_hash(const std::string& text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// Whether the attempt contains the raw times of its pairs: all positive, and as many of the starter as of the attempt.
bool has_samples(const Json& attempt) {
  const Json* starter = find(attempt, {"pairs", "samples", "starter_ns"});
  const Json* other = find(attempt, {"pairs", "samples", "attempt_ns"});
  const auto is_list = [](const Json* list) {
    return list != nullptr && list->is_array() && !list->empty() &&
           std::all_of(list->begin(), list->end(),
                       [](const Json& ns) { return ns.is_number() && ns.get<double>() > 0; });
  };
  return is_list(starter) && is_list(other) && starter->size() == other->size();
}

std::optional<double> figure(const Json& attempt, const std::vector<const char*>& parts) {
  double sum = 0;
  for (const char* part : parts) {
    const Json* value = find(attempt, {part});
    if (value == nullptr || !value->is_number()) return std::nullopt;
    sum += value->get<double>();
  }
  return sum;
}

// Matches UUIDs of GPUs and slices, and messages about other users' processes (gpu_state.cpp).
const Pattern& private_words() {
  static const Pattern kWords(
      "(GPU|MIG)-[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|"
      "uses this GPU: [^\n]*");
  return kWords;
}

bool is_private(const Json& json) {
  if (json.is_string()) return private_words().search(json.text()).has_value();
  return json.is_structured() && std::any_of(json.begin(), json.end(), is_private);
}

std::string kernel_of(const Json& attempt) {
  return std::filesystem::path(text_at(attempt, {"file"})).filename().string();
}

}  // namespace

Json without_private(Json record) {
  if (record.is_string()) {
    return private_words().replace_all(record.get<std::string>(), "(private)");
  }
  if (record.is_object() && record.contains("processes") && record["processes"].is_array()) {
    record["processes"] = record["processes"].size();
  }
  if (record.is_structured()) {
    for (Json& part : record) part = without_private(std::move(part));
  }
  return record;
}

std::vector<std::string> flaws_of(const Json& record) {
  std::vector<std::string> flaws;
  if (text_at(record, {"schema"}) != "roofwalk.gpu_record/1") return {"it is no roofwalk.gpu_record/1"};
  for (const auto& [path, what] : std::map<const char*, const char*>{{"driver_version", "the driver's version"},
                                                                     {"toolkit", "the toolkit's version"},
                                                                     {"version", "the version of this project"},
                                                                     {"made_at", "when it was made"}}) {
    if (text_at(record, {path}).empty()) flaws.push_back(fmt::format("it does not say {} ({})", what, path));
  }
  if (text_at(record, {"gpu", "name"}).empty()) flaws.push_back("it does not name the GPU (gpu.name)");
  if (!is_hash(text_at(record, {"gpu", "uuid_sha256"}))) {
    flaws.push_back("it has no hash of the GPU's UUID (gpu.uuid_sha256)");
  }
  if (is_private(record)) flaws.push_back("it tells the GPU's UUID, or who else was on it");
  for (const char* part : {"doctor", "checks", "ruler", "roofs"}) {
    const Json* found = find(record, {part});
    if (found == nullptr || found->empty()) flaws.push_back(fmt::format("it has no {}", part));
  }
  const Json* attempts = find(record, {"attempts"});
  if (attempts == nullptr || !attempts->is_array() || attempts->empty()) {
    flaws.push_back("it has no attempts");
    return flaws;
  }
  for (const Json& attempt : *attempts) {
    const std::string name = fmt::format("{} {}", text_at(attempt, {"chapter"}), kernel_of(attempt));
    if (text_at(attempt, {"device", "kind"}) != "cuda") flaws.push_back(name + " did not run on a GPU");
    if (!has_samples(attempt)) flaws.push_back(name + " has no raw samples of its times");
  }
  return flaws;
}

std::vector<ErrorRow> errors_of(const Json& attempt, const Json& modelled) {
  const std::vector<std::pair<const char*, std::vector<const char*>>> figures{
      {"DRAM bytes", {"dram_read_bytes", "dram_write_bytes"}},
      {"L2 bytes", {"l2_bytes"}},
      {"L1 bytes", {"l1_bytes"}},
      {"wavefronts", {"shared_wavefronts"}},
      {"FLOPs", {"executed_flops"}},
      {"time", {"elapsed_ns"}}};
  const Json* bytes_are_modelled = find(attempt, {"bytes_are_modelled"});
  const bool counts = bytes_are_modelled != nullptr && *bytes_are_modelled == false;
  std::vector<ErrorRow> rows;
  for (const auto& [name, parts] : figures) {
    const auto card = figure(attempt, parts), model = figure(modelled, parts);
    const bool is_cards = counts || std::string_view(name) == "time";
    if (!card || !model || *card <= 0 || !is_cards) continue;
    rows.push_back({text_at(attempt, {"chapter"}), kernel_of(attempt), name, *card, *model});
  }
  return rows;
}

std::string line_of(const ErrorRow& row) {
  return fmt::format("| {} | {} | {} | {:.4g} | {:.4g} | {:+.1f} % |\n", row.chapter, row.kernel, row.figure, row.card,
                     row.modelled, 100 * row.error());
}

std::string table_of(const std::vector<ErrorRow>& rows) {
  std::string text =
      fmt::format("| chapter | kernel | figure | card | virtual GPU | error |\n|---|---|---|---:|---:|---:|\n");
  std::map<std::string, std::vector<double>> errors;
  for (const ErrorRow& row : rows) {
    text += line_of(row);
    errors[row.figure].push_back(std::abs(row.error()));
  }
  for (auto& [name, all] : errors) {
    std::sort(all.begin(), all.end());
    text += fmt::format("\n{}: off by {:.1f} % in the median and {:.1f} % at most, of {} kernels.\n", name,
                        100 * all[all.size() / 2], 100 * all.back(), all.size());
  }
  return text;
}

}  // namespace roofwalk::test
