#include "grader/class/batch/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <utility>

#include "common/base/hash.h"
#include "common/base/json.h"
#include "common/base/json_reader.h"
#include "common/measure/roofs.h"
#include "grader/attempt/baseline.h"
#include "grader/class/terms/credit.h"
#include "grader/profile/profile_html.h"
#include "grader/walk/walk.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostItems = 1024;

Json optional_number(std::optional<double> value) { return value ? Json(*value) : Json(nullptr); }

// The plot with the starter's dot, this attempt's dot and the goal; empty if there is no dot. If plotting fails, the
// grade is kept.
std::string plot_of(const Rig& rig, const Chapter& chapter, const Attempt& attempt) {
  const bool is_graded = attempt.judgement.verdict == Verdict::pass || attempt.judgement.verdict == Verdict::fail;
  if (!is_graded || !attempt.measurement) return {};
  const Measurement& m = *attempt.measurement;
  const Work work{static_cast<std::int64_t>(m.useful_flops.value), static_cast<std::int64_t>(m.compulsory_bytes.value)};
  std::vector<Dot> dots;
  if (!attempt.is_starter) dots.push_back({"this one", points_of(m), attempt.judgement.grade});
  const Grade goal_for = attempt.judgement.grade == Grade::none ? Grade::pass : Grade::ace;
  const Chart chart = walk_chart(rig, chapter, attempt.walk_level, attempt.size, work, attempt.starter, dots, goal_for);
  if (!write_plot(chart, "plot.svg")) return {};
  return file_text("plot.svg");
}

Status read_thresholds(const Json& goal, Thresholds& out) {
  JsonReader one(goal, "a goal");
  const auto value = [](std::optional<double>& threshold) {
    return [&threshold](const Json& number) -> Status {
      if (!number.is_number()) return Error{"a threshold is not a number"};
      threshold = number.get<double>();
      return kOk;
    };
  };
  one.unless_null("pass", value(out.pass));
  one.unless_null("ace", value(out.ace));
  return one.end();
}

}  // namespace

Json to_json(const Job& job) {
  const JobTerms& terms = job.terms;
  Json goals = Json::array(), sizes = Json::array();
  for (const Goal& goal : terms.chapter.goals) {
    goals.push_back({{"pass", optional_number(goal.pass)}, {"ace", optional_number(goal.ace)}});
  }
  for (const Size& size : terms.hidden.sizes) {
    Json extents = Json::array();
    for (const auto& [name, value] : size.values()) extents.push_back({{"name", name}, {"value", value}});
    sizes.push_back(std::move(extents));
  }
  return {{"schema", "roofwalk.job/1"},
          {"chapter", terms.chapter.name},
          {"folder", job.folder.string()},
          {"device", terms.device},
          {"toolkit", terms.toolkit},
          {"goals", goals},
          {"seeds", terms.hidden.seeds},
          {"sizes", sizes},
          {"rates", to_json(terms.rates)},
          {"starter", to_json(terms.starter)},
          {"boxed", terms.isolation == Isolation::boxed}};
}

Result<Job> job_from_json(const Json& json, const Course& course) {
  Job job;
  JobTerms& terms = job.terms;
  JsonReader in(json, "the job");
  std::string schema, chapter, folder;
  in.text("schema", schema);
  in.text("chapter", chapter);
  in.text("folder", folder);
  in.text("device", terms.device);
  in.text("toolkit", terms.toolkit);
  bool boxed = false;
  in.flag("boxed", boxed);
  terms.isolation = boxed ? Isolation::boxed : Isolation::none;
  in.each("seeds", kMostItems, [&](const Json& seed) -> Status {
    if (!seed.is_number_unsigned()) return Error{"a seed is not a whole number"};
    terms.hidden.seeds.push_back(seed.get<std::uint64_t>());
    return kOk;
  });
  in.each("sizes", kMostItems, [&](const Json& extents) -> Status {
    std::vector<std::pair<std::string, std::int64_t>> values;
    if (!extents.is_array()) return Error{"a size is not a list"};
    for (const Json& extent : extents) {
      JsonReader one(extent, "an extent");
      auto& [name, value] = values.emplace_back();
      one.text("name", name);
      one.whole<std::int64_t>("value", value, 1);
      ROOFWALK_TRY_STATUS(one.end());
    }
    terms.hidden.sizes.emplace_back(std::move(values));
    return kOk;
  });
  in.with("rates", [&](const Json& rates) -> Status {
    const auto read = roof_rates_from_json(rates);
    if (!read) return Error{"the roofs cannot be read"};
    terms.rates = *read;
    return kOk;
  });
  in.with("starter", [&](const Json& starter) -> Status {
    const auto read = starter_from_json(json_line(starter));
    if (!read) return Error{"the starter's dot cannot be read"};
    terms.starter = *read;
    return kOk;
  });
  std::vector<Thresholds> goals;
  in.each("goals", kMostItems, [&](const Json& goal) { return read_thresholds(goal, goals.emplace_back()); });
  ROOFWALK_TRY_STATUS(in.end());
  if (schema != "roofwalk.job/1") return Error{"the job is of another version of this program"};
  ROOFWALK_TRY(const Chapter* const found, course.find(chapter));
  terms.chapter = *found;
  if (goals.size() != terms.chapter.goals.size()) return Error{"the job's chapter has other goals"};
  for (std::size_t i = 0; i < goals.size(); ++i) {
    Goal& goal = terms.chapter.goals[i];
    goal.pass = goals[i].pass;
    goal.ace = goals[i].ace;
    goal.on.clear();  // the job's are those that hold on its device
  }
  job.folder = folder;
  return job;
}

std::size_t keep_longest(std::vector<KernelRecord>& kernels) {
  if (kernels.size() <= kMostKernelsKept) return 0;
  std::vector<std::size_t> order(kernels.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return kernels[a].elapsed_ns > kernels[b].elapsed_ns; });
  order.resize(kMostKernelsKept);
  std::sort(order.begin(), order.end());
  std::vector<KernelRecord> kept;
  for (const std::size_t i : order) kept.push_back(std::move(kernels[i]));
  const std::size_t left_out = kernels.size() - kept.size();
  kernels = std::move(kept);
  return left_out;
}

HiddenCases with_seeds_of(HiddenCases hidden, std::string_view source) {
  for (std::uint64_t& seed : hidden.seeds) {
    const std::string digits = sha256_hex(fmt::format("{}\n{}", seed, source)).substr(0, 16);
    std::from_chars(digits.data(), digits.data() + digits.size(), seed, 16);
  }
  return hidden;
}

Result<Json> grade(const Job& job, const Course& course) {
  std::error_code error;
  fs::current_path(job.folder, error);  // so that messages name the file as NAME.cu, without its folder
  if (error) return Error{.message = "the folder of the job is not there", .file = job.folder.string()};
  const JobTerms& terms = job.terms;
  ROOFWALK_TRY(Rig rig, open_rig(course, terms.device, 1, nullptr, terms.isolation));
  if (rig.toolkit && rig.toolkit->version != terms.toolkit) {
    return Error{.message = fmt::format("this machine has CUDA {}, and the class is compiled with {}",
                                        rig.toolkit->version, terms.toolkit),
                 .advice = "ROOFWALK_CUDA=FOLDER in front of the command names one that all machines see"};
  }
  rig.rates = terms.rates;
  rig.roofs = roofs_of(rig.machine, rig.rates);
  const std::string source = file_text(job.file_name());
  ROOFWALK_TRY(Attempt attempt, run_attempt(rig, {.chapter = &terms.chapter,
                                                  .file = job.file_name(),
                                                  .starter = terms.starter,
                                                  .hidden = with_seeds_of(terms.hidden, source),
                                                  .sanitizes_measured = true,
                                                  .ignores_clock = true}));
  // A machine may clean its temporary folders at any time; to the compiler, a file that is gone is a mistake.
  if (file_text(job.file_name()) != source) return Error{.message = "the submission's copy did not stay as it was"};
  Json json{{"schema", "roofwalk.grade/1"}, {"file_sha256", sha256_hex(source)}};
  json["profile"] = attempt.measurement ? profile_page(profile_of(attempt, source)) : "";
  json["kernels_left_out"] = keep_longest(attempt.kernels);
  json["attempt"] = to_json(attempt);
  json["scales"] = to_json(scales_of(attempt));
  json["plot"] = plot_of(rig, terms.chapter, attempt);
  return json;
}

}  // namespace roofwalk
