#include "common/roofline/diagnosis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <optional>
#include <utility>

#include "common/roofline/causes.h"
#include "common/roofline/explain.h"
#include "common/roofline/losses.h"
#include "common/roofline/si.h"

namespace roofwalk {
namespace {

constexpr double kNearRoof = 1.1;  // a smaller gap is not mentioned

Diagnosis diagnosis_of(const Cause& cause, Explanation explanation, double share) {
  auto& [text, line, brief, figure] = explanation;
  return {std::string(cause.id), std::move(text), line, share, std::move(brief), std::move(figure), cause.moves_right};
}

std::string capitalised(std::string text) {
  text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text;
}

// Returns the gap, if there is one, followed by the cause: "The dot is x4.3 too low: ...". `share`: of the time, which
// a cure saves. If that is much less than the gap, the text says so: "The dot is x63 too low, about x6 of it for one
// reason:".
std::string with_gap(const DiagnosisInput& in, bool is_bytes, double share, const std::string& why) {
  constexpr double kMuchLess = 0.7;
  const double gap = is_bytes ? in.horizontal_gap : in.vertical_gap;
  if (gap < kNearRoof) return capitalised(why);
  const double gain = share < 1 ? 1 / (1 - share) : gap;
  const std::string part =
      !is_bytes && gain < kMuchLess * gap ? fmt::format(", about x{:.2g} of it for one reason", gain) : std::string();
  return fmt::format("The dot is x{} too {}{}: {}", number_text(gap), is_bytes ? "far left" : "low", part, why);
}

std::optional<Diagnosis> alone(const DiagnosisInput& in) {
  for (const Cause* cause : causes_in_order()) {
    if (cause->report_alone == nullptr) continue;
    if (auto explanation = cause->report_alone(in)) return diagnosis_of(*cause, std::move(*explanation), 0);
  }
  return std::nullopt;
}

std::vector<Diagnosis> of_unmeasured(const DiagnosisInput& in) {
  std::vector<Diagnosis> found;
  for (const Cause* cause : causes_in_order()) {
    if (cause->report_unmeasured == nullptr) continue;
    if (auto loss = cause->report_unmeasured(in)) {
      found.push_back(diagnosis_of(*cause, std::move(loss->explanation), loss->share));
    }
  }
  return found;
}

// Returns the losses that are worth reporting, most costly first.
std::vector<Diagnosis> of_losses(const DiagnosisInput& in) {
  std::vector<Diagnosis> found;
  for (const auto& [cause, ns, is_bytes] : losses(in)) {
    const double share = ns / in.elapsed_ns;
    if (share < kWorthCuring || !(has_gap(in) || cause->goes_beyond_roof)) continue;
    Explanation explanation = cause->explain(in);
    explanation.text = with_gap(in, is_bytes, share, explanation.text);
    if (explanation.figure.empty()) explanation.figure = cause->figure;
    found.push_back(diagnosis_of(*cause, std::move(explanation), share));
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.share > b.share; });
  return found;
}

// The diagnosis of a cause that counts point to, without a share of the time.
Diagnosis of_counts(const Cause& cause, const DiagnosisInput& in) {
  Explanation explanation = cause.explain(in);
  explanation.text = capitalised(explanation.text);
  if (explanation.figure.empty()) explanation.figure = cause.figure;
  return diagnosis_of(cause, std::move(explanation), 0);
}

// Describes the position of a dot for which no cause was found.
std::string standing(const DiagnosisInput& in) {
  const std::string share = percent_text(1 / std::max(1.0, in.vertical_gap));
  if (in.vertical_gap <= 0 || has_gap(in)) {
    return fmt::format("No single cause stands out at {} of the roof; the profile shows where the time goes.", share);
  }
  const bool close = in.vertical_gap <= kNearRoof;
  if (in.observed_ai >= in.ridge) {
    return fmt::format("The dot is at {} of the compute roof: {}", share,
                       close ? "well placed. Only another algorithm or a lower precision goes further."
                             : "little is left. More independent arithmetic a thread may give the rest.");
  }
  return fmt::format(
      "The dot is at {} of the memory roof and moves hardly a byte too many: {}", share,
      close ? "well placed. Only fusion with a neighbouring kernel goes further."
            : "little is left. More loads in flight a thread (float4), or fewer barriers, may give the rest.");
}

}  // namespace

std::span<const std::string_view> diagnosis_causes() {
  static const std::vector<std::string_view> ids = [] {
    std::vector<std::string_view> all;
    for (const Cause* cause : cause::kAll) all.push_back(cause->id);
    return all;
  }();
  return ids;
}

std::vector<Diagnosis> diagnose(const DiagnosisInput& in) {
  if (auto only = alone(in)) return {std::move(*only)};
  if (in.elapsed_ns <= 0) return {};
  std::vector<Diagnosis> found = of_unmeasured(in);
  for (Diagnosis& diagnosis : of_losses(in)) found.push_back(std::move(diagnosis));
  return found;
}

std::vector<Diagnosis> diagnose_bytes(const DiagnosisInput& in) {
  std::vector<std::pair<int, const Cause*>> found;
  for (const Cause* cause : causes_in_order()) {
    const int evidence = cause->moves_right && cause->evidence != nullptr ? cause->evidence(in) : 0;
    if (evidence > 0) found.emplace_back(evidence, cause);
  }
  std::ranges::stable_sort(found, std::greater(), [](const auto& one) { return one.first; });
  std::vector<Diagnosis> out;
  for (const auto& [evidence, cause] : found) out.push_back(of_counts(*cause, in));
  return out;
}

std::vector<Diagnosis> diagnose_counts(const DiagnosisInput& in) {
  std::vector<Diagnosis> found;
  if (array_conflicts(in) > 0) found.push_back(of_counts(cause::bank_conflicts, in));
  if (arrival_conflicts(in) > 0) found.push_back(of_counts(cause::arrivals, in));
  if (in.divergent_branches > 0 && in.thread_instructions < 32 * in.warp_instructions)
    found.push_back(of_counts(cause::divergence, in));
  if (in.useful_flops > 0 && in.executed_flops > in.useful_flops)
    found.push_back(of_counts(cause::executed_over_useful, in));
  if (cause::few_blocks.evidence(in) > 0) found.push_back(of_counts(cause::few_blocks, in));
  if (in.occupancy > 0 && in.occupancy < 1) found.push_back(of_counts(cause::low_occupancy, in));
  return found;
}

std::optional<Diagnosis> diagnose_sectors(const DiagnosisInput& in) {
  const bool any = std::ranges::any_of(
      in.lines, [](const auto& line) { return line.line > 0 && line.l1_sectors > line.ideal_l1_sectors; });
  if (!any) return std::nullopt;
  return of_counts(cause::over_fetch, in);
}

Diagnosis first_diagnosis(const DiagnosisInput& in, const std::vector<Diagnosis>& found) {
  return found.empty() ? Diagnosis{"none", standing(in)} : found.front();
}

}  // namespace roofwalk
