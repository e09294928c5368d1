#include "common/plan/plan_json.h"

#include "common/base/json_reader.h"

namespace roofwalk {
namespace {

constexpr std::size_t kMostSteps = 100'000;
constexpr int kMostLine = 1 << 30;

Json side_json(const Dim3& dim) { return Json::array({dim.x, dim.y, dim.z}); }

void read_dim(JsonReader& in, const char* key, Dim3& out) {
  std::uint32_t* const sides[] = {&out.x, &out.y, &out.z};
  in.exactly(key, 3, [&](const Json& side, std::size_t i) { in.take_whole(&side, key, *sides[i]); });
}

// Removes the launch's bytes from the front of `arguments`.
Result<PlanStep> launch_from_json(const Json& json, std::span<const std::uint8_t>& arguments) {
  KernelLaunch launch;
  std::string step;
  std::uint64_t argument_bytes = 0;
  JsonReader in(json, "a launch of the plan");
  in.text("step", step);
  in.text("kernel", launch.kernel, 1 << 16);
  read_dim(in, "grid", launch.grid);
  read_dim(in, "block", launch.block);
  in.whole("dynamic_shared_bytes", launch.dynamic_shared_bytes);
  in.whole("argument_bytes", argument_bytes, std::uint64_t{0}, std::uint64_t{arguments.size()});
  in.whole("line", launch.line, 0, kMostLine);
  ROOFWALK_TRY_STATUS(in.end());
  launch.arguments.assign(arguments.begin(), arguments.begin() + static_cast<std::ptrdiff_t>(argument_bytes));
  arguments = arguments.subspan(argument_bytes);
  return PlanStep(std::move(launch));
}

Result<PlanStep> memset_from_json(const Json& json) {
  MemsetStep set;
  std::string step;
  JsonReader in(json, "a memset of the plan");
  in.text("step", step);
  in.whole("address", set.address);
  in.whole("value", set.value);
  in.whole("size_bytes", set.size_bytes);
  in.whole("line", set.line, 0, kMostLine);
  ROOFWALK_TRY_STATUS(in.end());
  return PlanStep(set);
}

Result<PlanStep> copy_from_json(const Json& json) {
  CopyStep copy;
  std::string step;
  JsonReader in(json, "a copy of the plan");
  in.text("step", step);
  in.whole("destination", copy.destination);
  in.whole("source", copy.source);
  in.whole("size_bytes", copy.size_bytes);
  in.whole("line", copy.line, 0, kMostLine);
  ROOFWALK_TRY_STATUS(in.end());
  return PlanStep(copy);
}

}  // namespace

Json packed_json(const Plan& plan, std::vector<std::uint8_t>& arguments) {
  Json out = Json::array();
  for (const PlanStep& step : plan.steps) {
    if (const auto* launch = std::get_if<KernelLaunch>(&step)) {
      out.push_back({{"step", "launch"},
                     {"kernel", launch->kernel},
                     {"grid", side_json(launch->grid)},
                     {"block", side_json(launch->block)},
                     {"dynamic_shared_bytes", launch->dynamic_shared_bytes},
                     {"argument_bytes", launch->arguments.size()},
                     {"line", launch->line}});
      arguments.insert(arguments.end(), launch->arguments.begin(), launch->arguments.end());
    } else {
      out.push_back(to_json(Plan{{step}}).front());
    }
  }
  return out;
}

Result<Plan> plan_from_json(const Json& json, std::span<const std::uint8_t> arguments) {
  if (!json.is_array() || json.size() > kMostSteps) {
    return Error{.message = "the plan: must be an array of at most " + std::to_string(kMostSteps) + " steps"};
  }
  Plan plan;
  for (const Json& item : json) {
    const std::string kind =
        item.is_object() && item.contains("step") && item["step"].is_string() ? item["step"].text() : std::string();
    auto step = kind == "launch"   ? launch_from_json(item, arguments)
                : kind == "memset" ? memset_from_json(item)
                : kind == "copy"   ? copy_from_json(item)
                                   : Error{.message = "the plan: a step must be a launch, a memset or a copy"};
    if (!step) return step.error();
    plan.steps.push_back(std::move(*step));
  }
  if (!arguments.empty()) return Error{.message = "the plan: there are more argument bytes than launches take"};
  return plan;
}

}  // namespace roofwalk
