// Data sent between processes is restored exactly, and damaged data is rejected.
#include <gmock/gmock.h>
#include <functional>

#include "common/base/json.h"
#include "common/build/artifact_json.h"
#include "common/device/remote/messages.h"
#include "common/plan/plan_json.h"
#include "common/record/run_record_json.h"
#include "tests/support/kernel_runner.h"

namespace roofwalk::test {
namespace {

// Calls damaged(copy, what) for every copy of `json` with one error: a missing member, an additional member, a value of
// another type, or a number out of all bounds.
template <class Damaged>
void damage(const Json& json, const Damaged& damaged) {
  // put(other): a copy of all of `json` with `other` in place of `value`.
  using Put = std::function<Json(const Json& other)>;
  const auto visit = [&](const auto& self, const std::string& at, const Json& value, const Put& put) -> void {
    const auto with = [&](const Json& other) { damaged(put(other), at + " = " + json_line(other).substr(0, 40)); };
    const auto put_inner = [&](const auto& key, const Json& other) {
      Json outer = value;
      outer[key] = other;
      return put(outer);
    };
    with(value.is_object() ? Json("text") : Json{{"x", 1}});
    if (value.is_number()) {
      with(-1e300);
      with(1e300);
    }
    if (value.is_number_float()) with(nullptr);  // NaN is written as null
    if (value.is_object()) {
      Json more = value;
      more["nobody knows"] = 1;
      with(more);
      for (const auto& [key, inner] : value.items()) {
        Json fewer = value;
        fewer.erase(key);
        with(fewer);
        const std::string& name = key;
        self(self, at + "/" + name, inner, [&](const Json& other) { return put_inner(name, other); });
      }
    } else if (value.is_array()) {
      // The first three elements represent all of a long list.
      for (std::size_t i = 0; i < std::min<std::size_t>(value.size(), 3); ++i) {
        self(self, at + "/" + std::to_string(i), value[i], [&](const Json& other) { return put_inner(i, other); });
      }
    }
  };
  visit(visit, "", json, [](const Json& other) { return other; });
}

// Expects that `parse` returns a one-line Error for every damaged copy.
template <class Parse>
void expect_no_damage_is_taken(const Json& json, const Parse& parse) {
  int copies = 0;
  damage(json, [&](const Json& copy, const std::string& what) {
    const auto result = parse(copy);
    EXPECT_FALSE(result.ok()) << what;
    if (result) return;
    EXPECT_THAT(result.error().message, testing::Not(testing::HasSubstr("\n")));
    EXPECT_FALSE(result.error().message.empty());
    ++copies;
  });
  EXPECT_GT(copies, 20);
}

// Converts to text and back, as on the wire.
Json through_text(const Json& json) { return parse_json(json_line(json)); }

constexpr const char* kBusyKernel = R"(#include <roofwalk.cuh>
__device__ float twice(float x) { return 2 * x; }
__global__ void reverse(const float* x, float* y, int n) {
  __shared__ float tile[64];
  int i = blockIdx.x * 64 + threadIdx.x;
  tile[threadIdx.x] = i < n ? twice(x[i]) : 0;
  __syncthreads();
  if (i < n) y[i] = tile[63 - threadIdx.x] / 3;
  if (i == 5) printf("at %d: %g\n", i, y[i]);
}
SOLVE(const float* x, float* y, int n) {
  float* s = scratch<float>(n);
  cudaMemsetAsync(s, 1, n);
  reverse<<<ceil_div(n, 64), 64>>>(x, y, n);
  cudaMemcpyAsync(s, y, 4 * n, cudaMemcpyDeviceToDevice);
}
)";

struct BusyRun {
  Artifact artifact;
  Plan plan;
  RunRecord record;
};

BusyRun busy_run(const RunOptions& options) {
  Runner runner;
  Buffer x{"x", numbers(500)}, y{"y", std::vector<float>(500)};
  auto artifact = compile(kBusyKernel);
  EXPECT_TRUE(artifact.ok()) << artifact.error().text();
  auto plan = runner.plan(*artifact, {&x, &y, 500});
  EXPECT_TRUE(plan.ok()) << plan.error().text();
  auto record = runner.device().run(*plan, options);
  EXPECT_TRUE(record.ok()) << record.error().text();
  return {*artifact, *plan, *record};
}

TEST(RunRecordJson, ComesBackToTheBit) {
  for (const RunOptions& options : {RunOptions{}, kSanitized, RunOptions{.time = RunOptions::Time::whole_clock}}) {
    const RunRecord record = busy_run(options).record;
    ASSERT_EQ(record.kernels.size(), 3u);
    EXPECT_EQ(record.printed.text.substr(0, 5), "at 5:");
    const Json json = whole_json(record);
    const auto back = run_record_from_json(through_text(json));
    ASSERT_TRUE(back.ok()) << back.error().text();
    EXPECT_EQ(whole_json(*back), json);
    EXPECT_EQ(back->counters, record.counters);
    // Checks members that whole_json might omit.
    const auto& was = record.kernels[1].lines;
    const auto& is = back->kernels[1].lines;
    ASSERT_EQ(is.size(), was.size());
    bool any_load = false, any_wait = false, any_caller = false;
    for (std::size_t i = 0; i < was.size(); ++i) {
      EXPECT_EQ(is[i].waits.cycles, was[i].waits.cycles);
      EXPECT_EQ(is[i].callers, was[i].callers);
      ASSERT_EQ(is[i].loads.size(), was[i].loads.size());
      ASSERT_EQ(is[i].held_up.size(), was[i].held_up.size());
      for (std::size_t k = 0; k < was[i].held_up.size(); ++k) {
        EXPECT_EQ(is[i].held_up[k].cycles, was[i].held_up[k].cycles);
        EXPECT_EQ(is[i].held_up[k].wait, was[i].held_up[k].wait);
      }
      any_load |= !was[i].loads.empty();
      any_wait |= was[i].waits.total() > 0;
      any_caller |= !was[i].callers.empty();
    }
    EXPECT_TRUE(any_load && any_wait && any_caller);
  }
}

Fault odd_fault() {
  return {.kind = FaultKind::out_of_bounds,
          .kernel = "add",
          .block = {1, 2, 3},
          .thread = {4, 5, 6},
          .file = "my/µ.cu",
          .line = 7,
          .buffer = "c",
          .index = -1,
          .extent = ~0ull,
          .message = "c[-1] is written"};
}

RunRecord faulty_record() {
  RunRecord record = busy_run({}).record;
  record.counters = Counters{};  // the device cannot count
  record.counters.set(Counter::flops_f32, ~0ull);
  record.elapsed_ns = 0.1 + 0.2;
  record.kernels.at(1).parts.contention_ns = 0.1 + 0.7;
  record.watched_line = 9;
  record.passed_milestone = true;
  record.warnings = {odd_fault()};
  record.fault = odd_fault();
  record.fault->index.reset();
  record.fault->kind = FaultKind::resource;
  return record;
}

TEST(RunRecordJson, AbsentIsNot0AndFaultsAreWhole) {
  const auto back = run_record_from_json(through_text(whole_json(faulty_record())));
  ASSERT_TRUE(back.ok()) << back.error().text();
  EXPECT_FALSE(back->counters[Counter::dram_read_bytes].has_value());
  EXPECT_EQ(back->counters[Counter::flops_f32], ~0ull);
  EXPECT_EQ(back->kernels.at(1).parts.contention_ns, 0.1 + 0.7);
  EXPECT_EQ(back->elapsed_ns, 0.1 + 0.2);
  EXPECT_EQ(back->watched_line, 9);
  EXPECT_TRUE(back->passed_milestone);
  ASSERT_EQ(back->warnings.size(), 1u);
  EXPECT_EQ(back->warnings[0].index, -1);
  EXPECT_EQ(back->warnings[0].thread, (Dim3{4, 5, 6}));
  EXPECT_EQ(back->warnings[0].file, "my/µ.cu");
  EXPECT_EQ(back->fault->index, std::nullopt);
  EXPECT_EQ(back->fault->kind, FaultKind::resource);
  EXPECT_EQ(back->fault->extent, ~0ull);
}

TEST(RunRecordJson, NoDamageIsTakenForARecord) {
  expect_no_damage_is_taken(whole_json(faulty_record()), run_record_from_json);
}

TEST(PlanJson, ComesBackWithItsArgumentBytes) {
  const BusyRun run = busy_run({});
  std::vector<std::uint8_t> arguments;
  const Json json = packed_json(run.plan, arguments);
  EXPECT_EQ(arguments.size(), std::get<KernelLaunch>(run.plan.steps[1]).arguments.size());
  const auto back = plan_from_json(through_text(json), arguments);
  ASSERT_TRUE(back.ok()) << back.error().text();
  EXPECT_EQ(to_json(*back), to_json(run.plan));
  expect_no_damage_is_taken(json, [&](const Json& copy) { return plan_from_json(copy, arguments); });
  const std::span<const std::uint8_t> bytes = arguments;
  EXPECT_FALSE(plan_from_json(json, bytes.first(bytes.size() - 1)).ok());
  EXPECT_FALSE(plan_from_json(Json::array(), bytes).ok());
}

TEST(ArtifactJson, ComesBackAlsoWithBytesThatAreNoText) {
  Artifact artifact = busy_run({}).artifact;
  artifact.source_path += "\xff\n\"";
  artifact.may_call_libraries = true;
  ASSERT_FALSE(artifact.kernels.at(0).code.empty());
  artifact.kernels.at(0).code[0].counts_lanes = true;
  std::string texts;
  const Json json = packed_json(artifact, texts);
  const auto back = artifact_from_json(through_text(json), texts);
  ASSERT_TRUE(back.ok()) << back.error().text();
  EXPECT_EQ(back->source_path, artifact.source_path);
  EXPECT_EQ(back->source_name, artifact.source_name);
  EXPECT_EQ(back->source_text, artifact.source_text);
  EXPECT_EQ(back->ptx, artifact.ptx);
  EXPECT_EQ(back->arch, artifact.arch);
  EXPECT_TRUE(back->may_call_libraries);
  EXPECT_EQ(back->kernels.at(0).code, artifact.kernels.at(0).code);
  std::string again;
  EXPECT_EQ(packed_json(*back, again), json);
  expect_no_damage_is_taken(json, [&](const Json& copy) { return artifact_from_json(copy, texts); });
  EXPECT_FALSE(artifact_from_json(json, texts + "x").ok());
}

TEST(MachineJson, ComesBackAndNothingElseIsTakenForIt) {
  for (const std::string& name : machine_names()) {
    const auto machine = load_machine(name);
    ASSERT_TRUE(machine.ok());
    const Json json = to_json(*machine);
    const auto back = machine_from_json(through_text(json));
    ASSERT_TRUE(back.ok()) << back.error().text();
    EXPECT_EQ(to_json(*back), json);
  }
  expect_no_damage_is_taken(to_json(*load_machine("classroom")), machine_from_json);
}

TEST(RunOptionsJson, ComeBack) {
  const RunOptions options{.max_work = ~0ull,
                           .milestone_work = ~0ull - 1,
                           .max_seconds = 0.3,
                           .threads = 3,
                           .lockstep = false,
                           .sanitize = true,
                           .sanitized_blocks = 64,
                           .sanitized_seed = ~0ull,
                           .watched_address = 1ull << 63,
                           .watched_bytes = 4,
                           .time = RunOptions::Time::least};
  const Json json = to_json(options);
  const auto back = run_options_from_json(through_text(json));
  ASSERT_TRUE(back.ok()) << back.error().text();
  EXPECT_EQ(to_json(*back), json);
  expect_no_damage_is_taken(json, run_options_from_json);
}

}  // namespace
}  // namespace roofwalk::test
