// How a CudaDevice replays a plan: each pass starts with the same memory, measured passes also with a cold L2.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <thread>
#include <utility>

#include "common/device/cuda/cuda_device.h"
#include "common/device/cuda/cuda_errors.h"
#include "common/device/cuda/plan_graph.h"

namespace roofwalk {
namespace {

constexpr const char* kWholePlan = "plan";
constexpr std::size_t kMostCountedSteps = 1000;  // more ranges (one per step) may not fit into one pass of CUPTI
// A stream takes about 1000 launches before it blocks the host (undocumented; half of that certainly fits).
constexpr std::size_t kMostQueuedSteps = 500;

}  // namespace

std::string without_counters(const Error& error) {
  constexpr std::string_view kWords = "no counters";
  const std::string text = error.text();
  return text.starts_with(kWords) ? text : fmt::format("{}: {}", kWords, text);
}

// Copies of all buffers: on the GPU if they fit next to the originals, otherwise on the host.
class CudaDevice::Saved {
 public:
  explicit Saved(const CudaDevice& device) : device_(device) {}
  ~Saved() {
    if (device_.lost_) return;
    for (const Copy& copy : copies_) {
      if (copy.on_device != 0) device_.api_.cuMemFree(copy.on_device);
    }
  }
  Saved(const Saved&) = delete;
  Saved& operator=(const Saved&) = delete;

  CUresult take() {
    for (const auto& [id, buffer] : device_.buffers_) {
      Copy& copy = copies_.emplace_back();
      copy.address = buffer.address;
      copy.size_bytes = buffer.size_bytes;
      CUresult code = device_.api_.cuMemAlloc(&copy.on_device, buffer.size_bytes);
      if (code == CUDA_SUCCESS) {
        code = device_.api_.cuMemcpyDtoDAsync(copy.on_device, copy.address, copy.size_bytes, device_.stream_);
      } else if (code == CUDA_ERROR_OUT_OF_MEMORY) {
        copy.on_device = 0;
        copy.on_host.resize(copy.size_bytes);
        code = device_.api_.cuMemcpyDtoH(copy.on_host.data(), copy.address, copy.size_bytes);
      }
      if (code != CUDA_SUCCESS) return code;
    }
    return CUDA_SUCCESS;
  }

  CUresult put_back() const {
    for (const Copy& copy : copies_) {
      const CUresult code =
          copy.on_device != 0
              ? device_.api_.cuMemcpyDtoDAsync(copy.address, copy.on_device, copy.size_bytes, device_.stream_)
              : device_.api_.cuMemcpyHtoD(copy.address, copy.on_host.data(), copy.size_bytes);
      if (code != CUDA_SUCCESS) return code;
    }
    return CUDA_SUCCESS;
  }

 private:
  struct Copy {
    CUdeviceptr address = 0, on_device = 0;
    std::uint64_t size_bytes = 0;
    std::vector<std::uint8_t> on_host;
  };

  const CudaDevice& device_;
  std::vector<Copy> copies_;
};

class CudaDevice::Events {
 public:
  explicit Events(const CudaDevice& device) : device_(device) {}
  ~Events() {
    if (device_.lost_) return;
    for (CUevent event : events_) device_.api_.cuEventDestroy(event);
  }
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  CUresult make(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      CUevent event = nullptr;
      const CUresult code = device_.api_.cuEventCreate(&event, CU_EVENT_DEFAULT);
      if (code != CUDA_SUCCESS) return code;
      events_.push_back(event);
    }
    return CUDA_SUCCESS;
  }
  CUevent operator[](std::size_t i) const { return events_[i]; }
  CUresult record(std::size_t i) const { return device_.api_.cuEventRecord(events_[i], device_.stream_); }
  CUresult elapsed_ns(std::size_t from, std::size_t to, double& ns) const {
    float ms = 0;
    const CUresult code = device_.api_.cuEventElapsedTime(&ms, events_[from], events_[to]);
    ns = 1e6 * static_cast<double>(ms);
    return code;
  }

 private:
  const CudaDevice& device_;
  std::vector<CUevent> events_;
};

// Measures the time of one cache sweep, and the host time to queue a launch.
Status CudaDevice::calibrate() {
  Events events(*this);
  ROOFWALK_TRY_STATUS(check(events.make(2), "make events"));
  deadline_ = Clock::now() + std::chrono::seconds(30);
  for (int turn = 0; turn < 2; ++turn) {  // the first one is a warm-up
    ROOFWALK_TRY_STATUS(check(events.record(0), "record an event"));
    const double before_ns = host_ns();
    ROOFWALK_TRY_STATUS(check(cold_.sweep(stream_), "read L2 over"));
    queue_ns_ = host_ns() - before_ns;
    ROOFWALK_TRY_STATUS(check(events.record(1), "record an event"));
    if (const auto broken = wait(events[1])) {
      if (!broken->timed_out) return check(broken->code, "read L2 over");
      Error error{.message = "the GPU did not finish a small kernel of ours within 30 s",
                  .advice = "is another process holding it? `nvidia-smi` shows them"};
      lose(error);
      return error;
    }
  }
  return check(events.elapsed_ns(0, 1, sweep_ns_), "read an event");
}

CUresult CudaDevice::queue(const PlanStep& step) {
  if (const auto* launch = std::get_if<KernelLaunch>(&step)) {
    CUfunction kernel = nullptr;
    if (const CUresult code = module_.function(launch->kernel, launch->dynamic_shared_bytes, kernel);
        code != CUDA_SUCCESS) {
      return code;
    }
    std::size_t size_bytes = launch->arguments.size();
    void* arguments[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, const_cast<std::uint8_t*>(launch->arguments.data()),
                         CU_LAUNCH_PARAM_BUFFER_SIZE, &size_bytes, CU_LAUNCH_PARAM_END};
    return api_.cuLaunchKernel(kernel, launch->grid.x, launch->grid.y, launch->grid.z, launch->block.x, launch->block.y,
                               launch->block.z, launch->dynamic_shared_bytes, stream_, nullptr,
                               size_bytes == 0 ? nullptr : arguments);
  }
  if (const auto* set = std::get_if<MemsetStep>(&step)) {
    return api_.cuMemsetD8Async(set->address, set->value, set->size_bytes, stream_);
  }
  const auto& copy = std::get<CopyStep>(step);
  return api_.cuMemcpyDtoDAsync(copy.destination, copy.source, copy.size_bytes, stream_);
}

std::optional<CudaDevice::Broken> CudaDevice::queue(const Plan& plan) {
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    if (const CUresult code = queue(plan.steps[i]); code != CUDA_SUCCESS) return Broken{.code = code, .step = i};
  }
  return std::nullopt;
}

std::optional<CudaDevice::Broken> CudaDevice::find_kernels(const Plan& plan) {
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const auto* launch = std::get_if<KernelLaunch>(&plan.steps[i]);
    if (launch == nullptr) continue;
    CUfunction ignored = nullptr;
    const CUresult code = module_.function(launch->kernel, launch->dynamic_shared_bytes, ignored);
    if (code != CUDA_SUCCESS) return Broken{.code = code, .step = i};
  }
  return std::nullopt;
}

// Polls, because waiting in the driver for an endless kernel would block forever.
std::optional<CudaDevice::Broken> CudaDevice::wait(CUevent event) const {
  constexpr auto kLongestPause = std::chrono::microseconds(1000);
  for (auto pause = std::chrono::microseconds(10);; pause = std::min(2 * pause, kLongestPause)) {
    const CUresult code = api_.cuEventQuery(event);
    if (code == CUDA_SUCCESS) return std::nullopt;
    if (code != CUDA_ERROR_NOT_READY) return Broken{.code = code};
    if (Clock::now() > deadline_) return Broken{.timed_out = true};
    std::this_thread::sleep_for(pause);
  }
}

// Runs work before timing if the GPU was idle, because an idle GPU is slow at first.
std::optional<CudaDevice::Broken> CudaDevice::preheat() {
  constexpr auto kIdle = std::chrono::seconds(1);
  constexpr double kPieceNs = 1e6;
  const auto begin = Clock::now();
  if (options_.preheat_s <= 0 || begin - last_work_ < kIdle) return std::nullopt;
  Events events(*this);
  if (const CUresult code = events.make(1); code != CUDA_SUCCESS) return Broken{.code = code};
  const auto rounds = static_cast<std::uint32_t>(std::clamp(kPieceNs / std::max(sweep_ns_, 1.0), 1.0, 1e6));
  while (std::chrono::duration<double>(Clock::now() - begin).count() < options_.preheat_s) {
    CUresult code = cold_.sweep(stream_, rounds);
    if (code == CUDA_SUCCESS) code = events.record(0);
    if (code != CUDA_SUCCESS) return Broken{.code = code};
    if (const auto broken = wait(events[0])) return broken;
  }
  return std::nullopt;
}

Result<std::unique_ptr<CudaDevice::Saved>> CudaDevice::save() const {
  auto saved = std::make_unique<Saved>(*this);
  ROOFWALK_TRY_STATUS(check(saved->take(), "copy the buffers"));
  return saved;
}

Status CudaDevice::restore(const Saved& saved) {
  ROOFWALK_TRY_STATUS(check(saved.put_back(), "copy the buffers back"));
  if (!has_variables_) return kOk;
  auto loaded = module_.reload();
  if (!loaded && is_sticky(module_.last_code())) lose(loaded.error());
  return loaded;
}

// Runs step by step and waits for each step, so that a fault can be attributed to a step.
std::optional<CudaDevice::Broken> CudaDevice::check_steps(const Plan& plan) {
  Events events(*this);
  if (const CUresult code = events.make(1); code != CUDA_SUCCESS) return Broken{.code = code};
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    CUresult code = queue(plan.steps[i]);
    if (code == CUDA_SUCCESS) code = events.record(0);
    if (code != CUDA_SUCCESS) return Broken{.code = code, .step = i};
    if (auto broken = wait(events[0])) {
      broken->step = i;
      return broken;
    }
  }
  return std::nullopt;
}

// Returns the number of L2 sweeps that take twice as long as the host needs to queue `calls`, limited to one second.
// sweep_ns_ includes a launch, but all rounds share one launch, so the result is too low if L2 is small; callers add
// some calls to compensate.
std::uint32_t CudaDevice::rounds_for(double calls) const {
  constexpr double kMostNs = 1e9;
  return static_cast<std::uint32_t>(
      std::ceil(std::clamp(2 * calls * queue_ns_, 1.0, kMostNs) / std::max(sweep_ns_, 1.0)));
}

// Records events before and after the plan. The L2 sweep before the plan normally takes longer than the host needs to
// queue all steps, so that the GPU does not wait for the host; if the sweep was too short, the record says so. If a
// plan has more steps than a stream accepts without blocking the host, all steps are launched as one graph.
Result<std::optional<CudaDevice::Broken>> CudaDevice::time_plan(const Plan& plan, RunRecord& record) {
  if (const auto broken = find_kernels(plan)) return broken;  // a reloaded module has no kernels looked up yet
  if (const auto broken = preheat()) return broken;
  Events events(*this);
  ROOFWALK_TRY_STATUS(check(events.make(2), "make events"));
  std::optional<PlanGraph> graph;
  if (plan.steps.size() > kMostQueuedSteps) {
    std::optional<Broken> refused;
    graph.emplace(api_);
    const CUresult code = graph->capture(stream_, [&] {
      refused = queue(plan);
      return refused ? refused->code : CUDA_SUCCESS;
    });
    if (refused) return refused;
    ROOFWALK_TRY_STATUS(check(code, "make one graph of all steps"));
  }
  constexpr double kLaunchesOfAStep = 0.25;  // host time for one step of a graph, in launches
  const double calls = (graph ? kLaunchesOfAStep : 1) * static_cast<double>(plan.steps.size());
  ROOFWALK_TRY_STATUS(check(cold_.sweep(stream_, rounds_for(calls + 6)), "empty L2"));
  ROOFWALK_TRY_STATUS(check(events.record(0), "record an event"));
  const double before_ns = host_ns();
  if (graph) {
    ROOFWALK_TRY_STATUS(check(graph->launch(stream_), "run the graph of all steps"));
  } else if (const auto refused = queue(plan)) {
    return refused;
  }
  ROOFWALK_TRY_STATUS(check(events.record(1), "record an event"));
  if (!graph) queue_ns_ = (queue_ns_ + (host_ns() - before_ns) / calls) / 2;
  const bool host_was_late = api_.cuEventQuery(events[0]) == CUDA_SUCCESS;
  if (const auto broken = wait(events[1])) return broken;
  ROOFWALK_TRY_STATUS(check(events.elapsed_ns(0, 1, record.elapsed_ns), "read an event"));
  if (host_was_late) {
    record.notes.push_back(
        "the GPU began before this machine had handed it the whole plan: the time may hold waits for the host");
  }
  if (record.kernels.size() == 1) record.kernels[0].elapsed_ns = record.elapsed_ns;
  last_work_ = Clock::now();
  return std::optional<Broken>();
}

Result<std::optional<CudaDevice::Broken>> CudaDevice::time_steps(const Plan& plan, RunRecord& record) {
  if (const auto broken = find_kernels(plan)) return broken;
  Events events(*this);
  const std::size_t steps = plan.steps.size();
  ROOFWALK_TRY_STATUS(check(events.make(steps + 1), "make events"));
  ROOFWALK_TRY_STATUS(check(cold_.sweep(stream_, rounds_for(2 * static_cast<double>(steps + 1))), "empty L2"));
  ROOFWALK_TRY_STATUS(check(events.record(0), "record an event"));
  for (std::size_t i = 0; i < steps; ++i) {
    if (const CUresult code = queue(plan.steps[i]); code != CUDA_SUCCESS) {
      return std::optional(Broken{.code = code, .step = i});
    }
    ROOFWALK_TRY_STATUS(check(events.record(i + 1), "record an event"));
  }
  if (const auto broken = wait(events[steps])) return broken;
  for (std::size_t i = 0; i < steps; ++i) {
    ROOFWALK_TRY_STATUS(check(events.elapsed_ns(i, i + 1, record.kernels[i].elapsed_ns), "read an event"));
  }
  return std::optional<Broken>();
}

// Counts the whole plan as one range and then, if it has several steps but not too many, each step as a range.
Result<std::optional<CudaDevice::Broken>> CudaDevice::count(const Plan& plan, const Saved& saved, RunRecord& record) {
  Events events(*this);
  ROOFWALK_TRY_STATUS(check(events.make(1), "make events"));
  std::optional<Broken> broken;
  const Error stopped{.message = "the plan did not come to its end"};
  const auto finish = [&](std::optional<std::size_t> step) -> Status {
    ROOFWALK_TRY_STATUS(check(events.record(0), "record an event"));
    broken = wait(events[0]);
    if (!broken) return kOk;
    broken->step = step;
    return stopped;
  };
  const auto pass = [&](RangeCounters::Pass& ranges, bool by_step) -> Status {
    ROOFWALK_TRY_STATUS(restore(saved));
    ROOFWALK_TRY_STATUS(check(cold_.sweep(stream_), "empty L2"));
    ROOFWALK_TRY_STATUS(finish({}));  // so that none of this is counted in the range
    if (!by_step) ROOFWALK_TRY_STATUS(ranges.begin(kWholePlan));
    for (std::size_t i = 0; i < plan.steps.size(); ++i) {
      if (by_step) ROOFWALK_TRY_STATUS(ranges.begin(std::to_string(i)));
      if (const CUresult code = queue(plan.steps[i]); code != CUDA_SUCCESS) {
        broken = Broken{.code = code, .step = i};
        return stopped;
      }
      if (!by_step) continue;
      ROOFWALK_TRY_STATUS(finish(i));
      ROOFWALK_TRY_STATUS(ranges.end());
    }
    if (by_step) return kOk;
    ROOFWALK_TRY_STATUS(finish({}));
    return ranges.end();
  };
  const bool several = plan.steps.size() > 1;
  for (const bool by_step : {false, true}) {
    if (by_step && (!several || plan.steps.size() > kMostCountedSteps)) break;
    const auto values = counters_->count([&](RangeCounters::Pass& ranges) { return pass(ranges, by_step); });
    if (broken) return broken;
    if (lost_) return *lost_;
    if (!values) {
      supported_ = {};  // reported as unsupported until counting works again
      record.counters = {};
      for (KernelRecord& kernel : record.kernels) kernel.counters = {};
      record.notes.push_back(without_counters(values.error()));
      return std::optional<Broken>();
    }
    for (const RangeValues& range : *values) {
      const Counters counters = options_.counters->counters_of(range);
      if (range.name == kWholePlan) record.counters = counters;
      for (std::size_t i = 0; i < plan.steps.size(); ++i) {
        if (range.name == (several ? std::to_string(i) : kWholePlan)) record.kernels[i].counters = counters;
      }
    }
  }
  for (const Counter counter : options_.counters->known) {
    supported_[static_cast<std::size_t>(counter)] = record.counters[counter].has_value();
  }
  return std::optional<Broken>();
}

// Runs the passes that `figures` needs. Stops at a fault.
Status CudaDevice::replay(const Plan& plan, RunOptions::Figures figures, bool once, OutputCapture& output,
                          RunRecord& record) {
  using Figures = RunOptions::Figures;
  const bool all = figures == Figures::all && !once, several = plan.steps.size() > 1;
  const bool counts = all && counters_ != nullptr;
  std::unique_ptr<Saved> saved;
  if (counts || (all && several)) {
    ROOFWALK_TRY(saved, save());
  }
  if (figures == Figures::none || (all && several)) {
    ROOFWALK_TRY(const bool went_well, settle(check_steps(plan), plan, record));
    if (!went_well) return kOk;
  }
  if (counts) {
    ROOFWALK_TRY(const auto broken, count(plan, *saved, record));
    ROOFWALK_TRY(const bool went_well, settle(broken, plan, record));
    if (!went_well) return kOk;
  }
  if (all && several) {
    ROOFWALK_TRY_STATUS(restore(*saved));
    ROOFWALK_TRY(const auto broken, time_steps(plan, record));
    ROOFWALK_TRY(const bool went_well, settle(broken, plan, record));
    if (!went_well) return kOk;
  }
  if (figures == Figures::none) return kOk;
  if (saved) ROOFWALK_TRY_STATUS(restore(*saved));  // for the last pass, whose results are judged
  if (prints_) api_.cuStreamSynchronize(stream_);   // flushes output of the earlier passes
  output.restart();
  ROOFWALK_TRY(const auto broken, time_plan(plan, record));
  ROOFWALK_TRY(const bool went_well, settle(broken, plan, record));
  if (went_well && once && figures == Figures::all) {
    record.notes.push_back("the plan's time only: an earlier run has changed the kernel's global variables");
  }
  if (went_well && all && !why_no_counters_.empty()) record.notes.push_back(why_no_counters_);
  return kOk;
}

Result<RunRecord> CudaDevice::do_run(const Plan& plan, const RunOptions& options) {
  if (lost_) return *lost_;
  ROOFWALK_CHECK(module_.is_loaded() && !plan.steps.empty());
  deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                 std::chrono::duration<double>(std::min(options.max_seconds, 1e6)));
  RunRecord record;
  record.device = fmt::format("cuda:{}", gpu_.ordinal);
  ROOFWALK_TRY(record.fault, describe(plan, record));
  if (record.fault) {
    record.kernels.clear();
    return record;
  }
  // Several passes are possible only if each can start with the variables as `load` set them, so not after an earlier
  // run has changed them.
  const bool once = has_variables_ && std::exchange(has_run_, true);
  OutputCapture output(prints_);
  ROOFWALK_TRY_STATUS(replay(plan, options.figures, once, output, record));
  take_output(output, record.fault && record.fault->kind == FaultKind::runaway, record);
  return record;
}

}  // namespace roofwalk
