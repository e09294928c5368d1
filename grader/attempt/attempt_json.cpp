#include "common/record/run_record.h"
#include "grader/attempt/attempt.h"

#include <cmath>

#include "common/base/json.h"
#include "common/record/model_version.h"

namespace roofwalk {
namespace {

// Null if the quantity is unknown. Rates are written as floating-point numbers, counts as whole numbers, even very
// large ones.
Json number(const Quantity& quantity) {
  if (!quantity.known() || !std::isfinite(quantity.value)) return nullptr;
  const bool is_rate = quantity.unit.find('/') != std::string_view::npos || quantity.unit == "x" ||
                       quantity.unit == "ratio" || quantity.unit == "ns";
  if (is_rate) return quantity.value;
  return static_cast<std::int64_t>(quantity.value);
}

Json number(std::optional<double> value) { return value && std::isfinite(*value) ? Json(*value) : Json(nullptr); }

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json dim(const Dim3& d) { return Json::array({d.x, d.y, d.z}); }

Json size_json(const Size& size) {
  Json json = Json::object();
  for (const auto& [name, value] : size.values()) json[name] = value;
  return json;
}

Json goals_json(const std::vector<GoalResult>& goals) {
  Json rows = Json::array();
  for (const GoalResult& row : goals) {
    Json json;
    json["axis"] = goal_axis_name(row.goal.axis);
    json["level"] = text_or_null(row.goal.level);
    json["what"] = goal_what_name(row.goal.what);
    json["wanted"] = row.wanted;
    json["reached"] = number(row.reached);
    json["met"] = row.met;
    json["wanted_for"] = grade_name(row.wanted_for);
    rows.push_back(std::move(json));
  }
  return rows;
}

Json kernel_json(const KernelRecord& kernel) {
  Json json;
  json["name"] = kernel.name;
  json["grid"] = dim(kernel.grid);
  json["block"] = dim(kernel.block);
  json["registers"] = kernel.registers_per_thread;
  json["shared_bytes"] = kernel.shared_bytes;
  json["shared_counts_from"] = counts_from_name(kernel.shared_counts_from);
  json["occupancy"] = kernel.occupancy;
  json["elapsed_ns"] = kernel.elapsed_ns;
  json["line"] = kernel.line;
  json["local_bytes"] = kernel.local_bytes_per_thread;
  json["spilled_bytes"] = kernel.spilled_bytes_per_thread;
  json["resident_blocks_per_sm"] = kernel.resident_blocks_per_sm;
  const TimeParts& p = kernel.parts;
  json["parts_ns"] = {{"dram", p.dram_ns},
                      {"l2", p.l2_ns},
                      {"l1", p.l1_ns},
                      {"shared", p.shared_ns},
                      {"issue", p.issue_ns},
                      {"flops", p.flops_ns},
                      {"latency", p.latency_ns},
                      {"launch", p.launch_ns},
                      {"constant", p.constant_ns},
                      {"contention", p.contention_ns}};
  json["warp_cycles"] = to_json(kernel.waits);
  json["counters"] = to_json(kernel.counters);
  json["lines"] = Json::array();
  for (const LineCounters& line : kernel.lines) {
    json["lines"].push_back(
        {{"line", line.line}, {"counters", to_json(line.counters)}, {"warp_cycles", to_json(line.waits)}});
  }
  return json;
}

Json diagnoses_json(const std::vector<Diagnosis>& diagnoses) {
  Json rows = Json::array();
  for (const Diagnosis& diagnosis : diagnoses) {
    rows.push_back({{"cause", diagnosis.cause},
                    {"text", diagnosis.text},
                    {"line", diagnosis.line > 0 ? Json(diagnosis.line) : Json(nullptr)},
                    {"share", diagnosis.share > 0 ? Json(diagnosis.share) : Json(nullptr)}});
  }
  return rows;
}

Json finding_json(const Finding& finding) {
  Json json;
  json["cause"] = finding.diagnosis.cause;
  json["text"] = finding.diagnosis.text;
  json["line"] = finding.diagnosis.line > 0 ? Json(finding.diagnosis.line) : Json(nullptr);
  json["traffic_line"] = finding.traffic_line > 0 ? Json(finding.traffic_line) : Json(nullptr);
  json["traffic_source"] = text_or_null(finding.traffic_source);
  return json;
}

Json gpu_json(const GpuTimes& times) {
  return {{"runs_per_sample", times.runs_per_sample},
          {"disturbed", times.disturbed ? Json(*times.disturbed) : Json(nullptr)},
          {"before", times.before ? to_json(*times.before) : Json(nullptr)},
          {"after", times.after ? to_json(*times.after) : Json(nullptr)}};
}

// The measured figures; null if not measured.
void add_figures(const Attempt& attempt, Json& json) {
  const Measurement m = attempt.measurement.value_or(Measurement{});
  json["useful_flops"] = number(m.useful_flops);
  json["executed_flops"] = number(m.executed_flops);
  json["atomic_flops"] = number(m.atomic_flops);
  json["tensor_integer_operations"] = number(m.tensor_integer_operations);
  json["compulsory_bytes"] = number(m.compulsory_bytes);
  json["dram_read_bytes"] = number(m.dram_read_bytes);
  json["dram_write_bytes"] = number(m.dram_write_bytes);
  json["l2_bytes"] = number(m.l2_bytes);
  json["l1_bytes"] = number(m.l1_bytes);
  json["l1_read_sectors"] = number(m.l1_read_sectors);
  json["l1_write_sectors"] = number(m.l1_write_sectors);
  json["sector_use"] = number(m.sector_use);
  json["shared_bytes"] = number(m.shared_bytes);
  json["shared_wavefronts"] = number(m.shared_wavefronts);
  Json levels = {{"dram", nullptr}, {"l2", nullptr}, {"l1", nullptr}};
  for (const LevelMeasurement& level : m.levels) levels[level.level] = number(level.ai);
  json["ai_by_level"] = levels;
  json["warp_instructions"] = number(m.warp_instructions);
  json["elapsed_ns"] = number(m.elapsed_ns);
  json["time_is_modelled"] = attempt.time_is_modelled;
  json["bytes_are_modelled"] = attempt.bytes_are_modelled;
  json["achieved_flops_per_s"] = number(m.achieved_flops_per_s);
  json["observed_ai"] = levels["dram"];
  json["algorithmic_ai"] = number(m.algorithmic_ai);
  json["roof_flops_per_s"] = m.levels.empty() ? Json(nullptr) : number(m.level("dram").roof);
  json["vertical_gap"] = number(m.vertical_gap);
  json["horizontal_gap"] = number(m.horizontal_gap);
}

// Adds the figures whose keys come last because they were introduced later than all others: those of constant memory,
// the model's version, what the chapter counts and is measured against, and the counts that goals may be about.
void add_later_figures(const Attempt& attempt, Json& json) {
  const Measurement m = attempt.measurement.value_or(Measurement{});
  json["constant_requests"] = number(m.constant_requests);
  json["constant_passes"] = number(m.constant_passes);
  json["constant_bytes"] = number(m.constant_bytes);
  const bool is_modelled = attempt.time_is_modelled || attempt.bytes_are_modelled;
  json["model_version"] = is_modelled ? Json(kModelVersion) : Json(nullptr);
  json["roof"] = chapter_roof_name(attempt.roof);
  json["useful_unit"] = words_of(attempt.roofs.unit).one;
  json["baseline"] = attempt.baseline;
  json["shared_wavefronts_over_least"] = number(m.shared_wavefronts_over_least);
  json["active_lanes"] = number(m.active_lanes);
  json["executed_over_useful"] = number(m.executed_over_useful);
  json["atomics_per_element"] = number(m.atomics_per_element);
  json["sm_active"] = number(m.sm_active);
  json["resident_warps_per_scheduler"] = number(m.resident_warps_per_scheduler);
}

}  // namespace

Json to_json(const Attempt& attempt) {
  Json json;
  json["schema"] = "roofwalk.attempt/1";
  json["chapter"] = attempt.chapter;
  json["device"] = {{"name", attempt.device}, {"kind", attempt.device_kind}};
  json["size"] = size_json(attempt.size);
  json["seed"] = attempt.seed ? Json(*attempt.seed) : Json(nullptr);
  json["verdict"] = verdict_name(attempt.judgement.verdict);
  json["grade"] = grade_name(attempt.judgement.grade);
  json["reasons"] = attempt.judgement.reasons;
  json["correct"] = attempt.correct ? Json(*attempt.correct) : Json(nullptr);
  json["worst_error"] = number(attempt.worst_error);
  add_figures(attempt, json);
  json["moved"] = {{"right", attempt.moved ? Json(attempt.moved->right) : Json(nullptr)},
                   {"up", attempt.moved ? Json(attempt.moved->up) : Json(nullptr)},
                   {"level", attempt.walk_level}};
  json["goals"] = goals_json(attempt.judgement.goals);
  json["goals_left_out"] = attempt.goals_left_out;
  json["kernels"] = Json::array();
  for (const KernelRecord& kernel : attempt.kernels) json["kernels"].push_back(kernel_json(kernel));
  json["sandboxed"] = attempt.sandboxed;
  json["plot"] = text_or_null(attempt.plot);
  json["file"] = attempt.file;
  json["source_sha256"] = text_or_null(attempt.source_sha256);
  json["cases"] = attempt.cases;
  json["small_sizes"] = {{"ran", attempt.small_sizes}, {"wrong", attempt.wrong_small_sizes}};
  json["hidden_cases"] = {{"ran", attempt.hidden_cases}, {"wrong", attempt.wrong_hidden_cases}};
  json["worst_place"] = text_or_null(attempt.worst_place);
  json["fault"] = attempt.fault ? to_json(*attempt.fault) : Json(nullptr);
  json["warnings"] = to_json(attempt.warnings);
  json["printed"] = nullptr;
  if (!attempt.printed.text.empty()) {
    json["printed"] = to_json(attempt.printed);
    json["printed"]["case"] = attempt.printed_case;
  }
  json["diagnosis"] = attempt.finding ? finding_json(*attempt.finding) : Json(nullptr);
  json["diagnoses"] = attempt.finding ? diagnoses_json(attempt.finding->diagnoses) : Json(nullptr);
  json["bound"] = attempt.bound ? to_json(*attempt.bound) : Json(nullptr);
  json["prediction"] = to_json(attempt.prediction);
  json["pairs"] = attempt.times ? to_json(attempt.times->pairs) : Json(nullptr);
  json["gpu"] = attempt.times ? gpu_json(*attempt.times) : Json(nullptr);
  json["notes"] = attempt.notes;
  add_later_figures(attempt, json);
  return json;
}

std::optional<Point> stored_point(const Json& attempt, std::string_view level) {
  const std::string verdict = attempt.value("verdict", "");
  if (verdict != verdict_name(Verdict::pass) && verdict != verdict_name(Verdict::fail)) return std::nullopt;
  const Json* levels = attempt.member("ai_by_level");
  const auto ai = levels == nullptr ? std::nullopt : levels->number_of(level);
  const auto flops = attempt.number_of("achieved_flops_per_s");
  if (!ai || !flops) return std::nullopt;
  return Point{*ai, *flops};
}

std::optional<std::int64_t> stored_model_version(const Json& attempt) {
  if (!attempt.value("time_is_modelled", true) && !attempt.value("bytes_are_modelled", true)) return std::nullopt;
  return attempt.value("model_version", 1);  // attempts that were stored before the first change of the model have none
}

}  // namespace roofwalk
