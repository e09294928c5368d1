#include "grader/gpu_bench.h"

#include <fmt/format.h>

#include "common/device/remote/remote_device.h"

namespace roofwalk {
namespace {

// A device that somebody else owns, and that outlives this.
class BorrowedDevice final : public Device {
 public:
  explicit BorrowedDevice(std::shared_ptr<Device> device) : device_(std::move(device)) {}

 private:
  const Machine& do_machine() const override { return device_->machine(); }
  bool do_supports(Counter counter) const override { return device_->supports(counter); }
  DeviceIdentity do_identity() const override { return device_->identity(); }
  Result<DeviceBuffer> do_allocate(std::string_view name, std::uint64_t size_bytes,
                                   std::uint32_t element_bytes) override {
    return device_->allocate(name, size_bytes, element_bytes);
  }
  void do_release(const DeviceBuffer& buffer) override { device_->release(buffer); }
  void do_write(const DeviceBuffer& buffer, std::uint64_t offset_bytes, std::span<const std::uint8_t> data) override {
    device_->write(buffer, offset_bytes, data);
  }
  void do_read(const DeviceBuffer& buffer, std::uint64_t offset_bytes, std::span<std::uint8_t> data) const override {
    device_->read(buffer, offset_bytes, data);
  }
  void do_forget(const DeviceBuffer& buffer, std::uint64_t offset_bytes, std::uint64_t size_bytes) override {
    device_->forget(buffer, offset_bytes, size_bytes);
  }
  Status do_load(const Artifact& artifact) override { return device_->load(artifact); }
  std::optional<Result<Plan>> do_plan(std::span<const ArgumentBytes> arguments,
                                      const AllocateScratch& allocate_scratch) override {
    return device_->plan(arguments, allocate_scratch);
  }
  Result<RunRecord> do_run(const Plan& plan, const RunOptions& options) override { return device_->run(plan, options); }
  Status do_alive() const override { return device_->alive(); }

  std::shared_ptr<Device> device_;
};

// One kernel, its problem laid out on a device.
struct Runner {
  const char* whose = "";
  const Artifact& artifact;
  std::unique_ptr<Device> device;
  std::unique_ptr<Workspace> workspace;

  Result<double> time(const RunOptions& options, const std::vector<Expected>& expected) {
    const auto ended = [&](const std::string& how) {
      return Error{
          .message = fmt::format("{} was right before and is not any more, while it was timed: {}", whose, how),
          .advice = "a kernel that depends on luck (a race, memory that nobody wrote) does that"};
    };
    ROOFWALK_TRY(const RunRecord record, workspace->run(artifact, options));
    if (record.fault) return ended(record.fault->message);
    const Correctness correctness = workspace->check(expected);
    ROOFWALK_TRY_STATUS(device->alive());
    if (!correctness.correct) return ended(correctness.reason);
    return record.elapsed_ns;
  }
};

Result<Runner> runner(const char* whose, const DeviceFactory& open, const Artifact& artifact, const Problem& problem) {
  Runner out{whose, artifact, nullptr, nullptr};
  ROOFWALK_TRY(out.device, open());
  ROOFWALK_TRY(Workspace workspace, Workspace::make(*out.device, problem, kGuardBytes));
  out.workspace = std::make_unique<Workspace>(std::move(workspace));
  return out;
}

}  // namespace

DeviceFactory devices_in_worker(const std::string& device, const std::filesystem::path& program, Isolation isolation) {
  const auto kept = std::make_shared<std::shared_ptr<Device>>();
  return [device, program, isolation, kept]() -> Result<std::unique_ptr<Device>> {
    if (!*kept) {
      WorkerCommand command{.arguments = {program.string(), "--device", device, "device-worker"},
                            .environment = worker_environment()};
      const bool boxed = isolation == Isolation::boxed;
      if (boxed) command.arguments.push_back("--boxed-tools");
      ROOFWALK_TRY(std::unique_ptr<Device> worker,
                   make_remote_device(std::move(command), device, {}, {.plans = boxed}));
      *kept = std::move(worker);
    }
    return std::unique_ptr<Device>(std::make_unique<BorrowedDevice>(*kept));
  };
}

std::vector<TimedGoal> timed_goals(const std::vector<Goal>& goals, const Measurement& measurement) {
  std::vector<TimedGoal> out;
  for (std::size_t i = 0; i < goals.size(); ++i) {
    const Goal& goal = goals[i];
    const Quantity& roof = measurement.level(goal.level).roof;
    for (const Grade grade : {Grade::pass, Grade::ace}) {
      const auto wanted = grade == Grade::ace ? goal.ace : goal.pass;
      if (!wanted) continue;
      TimeGoal time{.name = fmt::format("{} {}", goal_axis_name(goal.axis), grade_name(grade))};
      if (goal.what == Goal::What::flops_over_starter) {
        time.least_speedup = *wanted;
      } else if (goal.what == Goal::What::share_of_roof && roof.known() && roof.value > 0) {
        time.most_ns = measurement.useful_flops.value / (*wanted * roof.value) * 1e9;
      } else {
        continue;
      }
      out.push_back({i, grade, std::move(time)});
    }
  }
  return out;
}

Result<PairedTimes> time_in_pairs(const Bench& bench, const Artifact& starter, const Artifact& attempt,
                                  const Problem& problem, const ExpectedValues& expected,
                                  const std::vector<TimedGoal>& goals) {
  ROOFWALK_TRY(Runner one, runner("the starter", bench.own_devices(), starter, problem));
  ROOFWALK_TRY(Runner other, runner("your kernel", bench.open, attempt, problem));
  RunOptions options;
  options.figures = RunOptions::Figures::time;
  PairOptions pairs;
  for (const TimedGoal& goal : goals) pairs.goals.push_back(goal.time);
  return measure_pairs(
      [&](bool starter_first) -> Result<TimePair> {
        TimePair pair{.starter_first = starter_first};
        for (const bool starters : {starter_first, !starter_first}) {
          ROOFWALK_TRY((starters ? pair.starter_ns : pair.attempt_ns),
                       (starters ? one : other).time(options, expected()));
        }
        return pair;
      },
      pairs);
}

}  // namespace roofwalk
