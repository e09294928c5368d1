// Format "roofwalk.profile/1". Keys may be added, never renamed or removed.
#include <cmath>

#include "common/base/json.h"
#include "grader/profile/compare.h"

namespace roofwalk {
namespace {

Json number(std::optional<double> value) { return value && std::isfinite(*value) ? Json(*value) : Json(nullptr); }

// Sums of counters are whole numbers.
Json whole(double value) { return static_cast<std::int64_t>(value); }

// The waiting at a line's barriers, split by what the last warp did meanwhile, and where.
Json held_up_json(const std::vector<HeldUpBy>& held_up) {
  double all = 0;
  for (const HeldUpBy& by : held_up) all += by.cycles;
  Json out = Json::array();
  for (const HeldUpBy& by : held_up) {
    if (by.cycles <= 0) continue;
    out.push_back({{"line", by.line > 0 ? Json(by.line) : Json(nullptr)},
                   {"wait", wait_name(by.wait)},
                   {"share", by.cycles / all}});
  }
  return out;
}

Json figures_json(const Profile& profile, const LineFigures& f) {
  const bool has_time = profile.attempt.time_is_modelled;
  Json waits = Json::object();
  for (std::size_t w = 0; w < kWaitCount; ++w) {
    if (static_cast<Wait>(w) == Wait::start || static_cast<Wait>(w) == Wait::tail) continue;
    waits[std::string(wait_name(static_cast<Wait>(w)))] = has_time ? Json(f.waits_ns[w]) : Json(nullptr);
  }
  const auto main_wait = f.main_wait();
  Json json;
  json["kernels"] = f.kernels;
  json["elapsed_ns"] = has_time ? Json(f.elapsed_ns()) : Json(nullptr);
  json["time_share"] = has_time ? Json(profile.share_of_time(f)) : Json(nullptr);
  json["launch_ns"] = has_time ? Json(f.launch_ns) : Json(nullptr);
  json["waits_ns"] = std::move(waits);
  json["main_wait"] = main_wait ? Json(wait_name(*main_wait)) : Json(nullptr);
  json["main_wait_share"] = main_wait ? Json(f.share_of(*main_wait)) : Json(nullptr);
  json["warp_instructions"] = whole(f.count(Counter::warp_instructions));
  json["active_lanes"] = number(f.active_lanes());
  json["global_requests"] = whole(f.global_requests());
  json["sectors_per_request"] = number(f.sectors_per_request());
  json["ideal_sectors_per_request"] = number(f.ideal_sectors_per_request());
  json["l1_bytes"] = whole(f.l1_bytes());
  json["l2_bytes"] = whole(f.l2_bytes());
  json["dram_bytes"] = whole(f.dram_bytes());
  json["shared_requests"] = whole(f.shared_requests());
  json["bank_conflict_ways"] = number(f.bank_conflict_ways());
  json["constant_words"] = number(f.constant_words());
  json["flops"] = whole(f.flops());
  json["callers"] = f.callers;
  json["loads"] = Json::array();
  for (const LineCounters::Load& load : f.loads)
    json["loads"].push_back({{"sectors", whole(load.sectors)}, {"requests", whole(load.requests)}});
  json["held_up_by"] = has_time ? held_up_json(f.held_up) : Json(nullptr);
  json["counters"] = to_json(f.counters);
  return json;
}

Json line_json(const Profile& profile, const ProfileLine& line) {
  return {{"line", line.number},
          {"source", line.source},
          {"hot", line.is_hot()},
          {"note", line.is_hot() ? Json(line.note) : Json(nullptr)},
          {"figures", line.figures ? figures_json(profile, *line.figures) : Json(nullptr)}};
}

}  // namespace

Json to_json(const Profile& profile) {
  const Json attempt = to_json(profile.attempt);
  Json json;
  json["schema"] = "roofwalk.profile/1";
  for (const char* key : {"chapter", "device", "size", "seed", "file", "source_sha256", "verdict", "grade", "reasons",
                          "elapsed_ns", "time_is_modelled", "bytes_are_modelled", "diagnosis", "diagnoses"}) {
    json[key] = attempt.at(key);
  }
  json["says"] = profile.says;
  json["lines"] = Json::array();
  for (const ProfileLine& line : profile.lines) json["lines"].push_back(line_json(profile, line));
  json["elsewhere"] = profile.elsewhere ? figures_json(profile, *profile.elsewhere) : Json(nullptr);
  json["total"] = profile.is_measured() ? figures_json(profile, profile.total) : Json(nullptr);
  json["against"] = nullptr;
  json["pairs"] = nullptr;
  json["page"] = nullptr;
  return json;
}

Json to_json(const Profile& was, const Profile& now) {
  Json json = to_json(now);
  Json pairs = Json::array();
  for (const LinePair& pair : matched(was, now)) {
    pairs.push_back({{"line", pair.now > 0 ? Json(pair.now) : Json(nullptr)},
                     {"against_line", pair.was > 0 ? Json(pair.was) : Json(nullptr)}});
  }
  json["against"] = to_json(was);
  json["pairs"] = std::move(pairs);
  return json;
}

}  // namespace roofwalk
