#include "common/device/remote/remote_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <map>

#include "common/base/json.h"
#include "common/base/json_reader.h"
#include "common/build/artifact_json.h"
#include "common/device/remote/messages.h"
#include "common/device/remote/wire.h"
#include "common/plan/plan_json.h"
#include "common/record/run_record_json.h"

namespace roofwalk {
namespace {

using Clock = std::chrono::steady_clock;

Clock::time_point after(double seconds) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

// Limit for the heads of answers that contain neither a record nor a plan.
constexpr std::uint32_t kShortHeadBytes = 1 << 20;

// Returns the name of a signal that a process causes itself; null if the signal came from outside.
const char* own_signal(int signal) {
  switch (signal) {
    case SIGSEGV:
      return "a segmentation fault";
    case SIGBUS:
      return "a bus error";
    case SIGILL:
      return "an illegal instruction";
    case SIGFPE:
      return "an arithmetic error";
    case SIGABRT:
      return "an abort";
    case SIGTRAP:
      return "a trap";
    default:
      return nullptr;
  }
}

// The worker's report when it starts.
struct Greeting {
  Machine machine;
  DeviceIdentity identity;
  std::array<bool, kCounterCount> counters{};
  bool operator==(const Greeting& other) const {
    return identity == other.identity && counters == other.counters &&
           json_line(to_json(machine)) == json_line(to_json(other.machine));
  }
};

Result<Greeting> greeting_from_json(const Json& json) {
  Greeting out;
  int protocol = 0;
  JsonReader in(json, "the worker's greeting");
  in.whole("protocol", protocol, kWorkerProtocol, kWorkerProtocol);
  in.with("machine", [&](const Json& value) -> Status {
    ROOFWALK_TRY(out.machine, machine_from_json(value));
    return kOk;
  });
  in.text("uuid", out.identity.uuid, 256);
  in.whole("driver_version", out.identity.driver_version, 0);
  in.text("card", out.identity.name, 256);
  in.each("counters", kCounterCount, [&](const Json& value) -> Status {
    for (std::size_t i = 0; i < kCounterCount; ++i) {
      if (value != counter_name(static_cast<Counter>(i))) continue;
      out.counters[i] = true;
      return kOk;
    }
    return Error{.message = "the worker's greeting: it names a counter that nobody knows"};
  });
  ROOFWALK_TRY_STATUS(in.end());
  return out;
}

// Checks that the record is consistent with the request. The caller must verify everything else in it.
Result<RunRecord> record_of_run(const Json& value, const Plan& plan, double wall_ns) {
  RunRecord record;
  JsonReader in(value, "the answer");
  in.with("record", [&](const Json& json) -> Status {
    ROOFWALK_TRY(record, run_record_from_json(json));
    return kOk;
  });
  if (record.kernels.size() > plan.steps.size()) in.fail("it tells of more kernels than the plan has steps");
  if (!record.fault && record.kernels.size() < plan.steps.size()) {
    in.fail("it tells of fewer kernels than the plan has steps");
  }
  if (!record.time_is_modelled && record.elapsed_ns > wall_ns) in.fail("it says that it ran longer than it took");
  ROOFWALK_TRY_STATUS(in.end());
  return record;
}

class RemoteDevice final : public Device {
 public:
  RemoteDevice(WorkerCommand command, std::string name, const RemoteLimits& limits, const RemoteDuties& duties)
      : state_(std::make_unique<State>(std::move(command), std::move(name), limits, duties)) {}

  // Starts the first worker. Errors: no worker can be started.
  Status start() { return state_->start(); }

 private:
  struct Loss {
    enum class Kind { late, died, other };
    Kind kind = Kind::other;
    Error error;
  };

  // The state is separate from the device and mutable, because even a read may lose the device.
  struct State {
    State(WorkerCommand command_in, std::string name_in, const RemoteLimits& limits_in, const RemoteDuties& duties_in)
        : command(std::move(command_in)), name(std::move(name_in)), limits(limits_in), duties(duties_in) {}

    Status start();
    Status usable();  // starts a worker if there is none; Error: that fails, or buffers of a lost worker remain
    // Sends one request and receives its answer. An Error is the device's, or says that the request is too long or that
    // the worker was lost. Afterwards, `worker` is null if the worker was lost.
    Result<Json> ask(const Json& request, std::span<const std::uint8_t> body, double seconds,
                     std::uint32_t most_head_bytes = kShortHeadBytes);
    Result<Json> take_answer(std::uint64_t expected_serial, Clock::time_point deadline,
                             std::uint32_t most_head_bytes = kShortHeadBytes);
    Error lose(Loss::Kind kind, const std::string& why);
    Error lose(const WireTrouble& trouble);
    // Like ask(), for requests that cannot report errors.
    void ask_or_lose(const Json& request);
    bool holds(const DeviceBuffer& buffer) const { return worker && buffers.contains(buffer.id); }

    WorkerCommand command;
    std::string name;
    RemoteLimits limits;
    RemoteDuties duties;
    std::unique_ptr<WorkerProcess> worker;
    std::optional<Greeting> greeting;     // greeting of the first worker
    std::map<int, DeviceBuffer> buffers;  // buffers that the worker holds, or that a lost worker held
    std::optional<Loss> loss;             // loss of the last worker; set while its buffers exist
    std::optional<Loss> last_loss;        // loss of a worker during the current request
    std::string source_path;              // source path of the artifact
    bool loaded = false;
    std::uint64_t serial = 0;
    int next_id = 0;
  };

  const Machine& do_machine() const override { return state_->greeting->machine; }
  bool do_supports(Counter counter) const override {
    return state_->greeting->counters[static_cast<std::size_t>(counter)];
  }
  DeviceIdentity do_identity() const override { return state_->greeting->identity; }
  Result<DeviceBuffer> do_allocate(std::string_view name, std::uint64_t size_bytes,
                                   std::uint32_t element_bytes) override;
  void do_release(const DeviceBuffer& buffer) override;
  void do_protect(const DeviceBuffer& buffer) override;
  void do_lay_out(std::uint64_t seed) override;
  void do_write(const DeviceBuffer& buffer, std::uint64_t offset_bytes, std::span<const std::uint8_t> data) override;
  void do_read(const DeviceBuffer& buffer, std::uint64_t offset_bytes, std::span<std::uint8_t> data) const override;
  void do_forget(const DeviceBuffer& buffer, std::uint64_t offset_bytes, std::uint64_t size_bytes) override;
  Status do_load(const Artifact& artifact) override;
  std::optional<Result<Plan>> do_plan(std::span<const ArgumentBytes> arguments,
                                      const AllocateScratch& allocate_scratch) override;
  Result<RunRecord> do_run(const Plan& plan, const RunOptions& options) override;
  Status do_alive() const override;

  Result<Plan> plan_there(std::span<const ArgumentBytes> arguments, const AllocateScratch& allocate_scratch);
  RunRecord fault_of(const Loss& loss, const Plan& plan, double seconds) const;

  std::unique_ptr<State> state_;
};

// Ends the worker and records the reason. Returns the Error for the caller.
Error RemoteDevice::State::lose(Loss::Kind kind, const std::string& why) {
  constexpr double kOwnEndSeconds = 1;  // the connection closes a moment before the process ends
  const std::string words = worker->wire().last_words();
  const WorkerProcess::End end = worker->end(kind == Loss::Kind::died ? kOwnEndSeconds : 0, limits.end_s);
  worker.reset();
  loaded = false;
  std::string how = why;
  if (end.by_itself && kind == Loss::Kind::died) {
    const char* own = own_signal(end.signal);
    how = own != nullptr   ? fmt::format("it died of {}", own)
          : end.signal > 0 ? fmt::format("it was killed from outside (signal {})", end.signal)
                           : fmt::format("it ended (exit code {})", end.exit_code);
    if (own == nullptr) kind = Loss::Kind::other;
  } else if (kind == Loss::Kind::died) {
    kind = Loss::Kind::other;  // the worker closed the connection but kept running
  }
  if (!words.empty()) how += fmt::format(", its last words: {}", words);
  Error error{.message = fmt::format("the process that runs {}: {}", name, how)};
  if (end.signal == SIGKILL && end.by_itself) error.advice = "the machine may be out of memory";
  if (end.stuck) {
    error.advice = "it was killed and does not end: it waits for the driver, which holds that device until it does";
  }
  last_loss = Loss{kind, error};
  if (!buffers.empty()) loss = last_loss;
  return error;
}

Error RemoteDevice::State::lose(const WireTrouble& trouble) {
  switch (trouble.kind) {
    case WireTrouble::Kind::late:
      return lose(Loss::Kind::late, trouble.message);
    case WireTrouble::Kind::closed:
      return lose(Loss::Kind::died, trouble.message);
    default:
      return lose(Loss::Kind::other, trouble.message);
  }
}

Result<Json> RemoteDevice::State::take_answer(std::uint64_t expected_serial, Clock::time_point deadline,
                                              std::uint32_t most_head_bytes) {
  Wire::Head head;
  if (auto trouble = worker->wire().take_head(head, deadline, most_head_bytes)) return lose(*trouble);
  if (head.serial != expected_serial) return lose(Loss::Kind::other, "it answered what nobody asked");
  std::optional<Error> error, lost;
  Json value;
  const auto read = [](std::optional<Error>& out) {
    return [&out](const Json& json) { return read_error(json, out.emplace()); };
  };
  JsonReader in(head.json, "its answer");
  in.unless_null("error", read(error));
  in.unless_null("lost", read(lost));
  in.with("value", [&](const Json& json) -> Status {
    value = json;
    return kOk;
  });
  if (!value.is_null() == error.has_value()) in.fail("`value` must be null with an error, and only then");
  if (head.body_bytes != 0) in.fail("it has bytes that nobody asked for");
  if (const Status status = in.end(); !status) return lose(Loss::Kind::other, status.error().message);
  if (lost) {
    const Error why = lose(Loss::Kind::other, lost->text());
    if (!error && !value.contains("record")) return why;
  }
  if (error) return *error;
  return value;
}

Result<Json> RemoteDevice::State::ask(const Json& request, std::span<const std::uint8_t> body, double seconds,
                                      std::uint32_t most_head_bytes) {
  last_loss.reset();
  const auto deadline = after(seconds);
  ++serial;
  if (auto trouble = worker->wire().send(serial, request, body, deadline)) {
    // Only what the learner's file holds or launches is that long.
    if (trouble->kind == WireTrouble::Kind::too_long)
      return Error{.message = "what the file holds or launches is too much to run: " + trouble->message,
                   .file = source_path};
    return lose(*trouble);
  }
  return take_answer(serial, deadline, most_head_bytes);
}

void RemoteDevice::State::ask_or_lose(const Json& request) {
  const auto answer = ask(request, {}, limits.request_s);
  if (!answer && worker) lose(Loss::Kind::other, answer.error().text());
}

Status RemoteDevice::State::start() {
  ROOFWALK_TRY(worker, WorkerProcess::start(command, name));
  serial = 0;
  last_loss.reset();
  auto answer = take_answer(0, after(limits.start_s));
  if (!answer) {
    worker.reset();  // the worker has no device and exits
    return answer.error();
  }
  auto said = greeting_from_json(*answer);
  if (!said) return lose(Loss::Kind::other, said.error().message);
  if (greeting && !(*said == *greeting)) return lose(Loss::Kind::other, "the device is another one than before");
  if (!greeting) greeting = std::move(*said);
  return kOk;
}

Status RemoteDevice::State::usable() {
  if (loss) {
    Error error = loss->error;
    error.message = fmt::format("the buffers are gone since their device was lost ({})", error.message);
    return error;
  }
  if (worker) return kOk;
  return start();
}

Status RemoteDevice::do_alive() const {
  if (state_->loss) return state_->loss->error;
  return kOk;
}

Result<DeviceBuffer> RemoteDevice::do_allocate(std::string_view name, std::uint64_t size_bytes,
                                               std::uint32_t element_bytes) {
  State& s = *state_;
  ROOFWALK_TRY_STATUS(s.usable());
  const int id = s.next_id++;
  ROOFWALK_TRY(const Json value, s.ask({{"ask", "allocate"},
                                        {"id", id},
                                        {"name", name},
                                        {"size_bytes", size_bytes},
                                        {"element_bytes", element_bytes}},
                                       {}, s.limits.request_s));
  DeviceBuffer buffer{id, 0, size_bytes};
  JsonReader in(value, "its answer");
  in.whole("address", buffer.address, std::uint64_t{1}, ~size_bytes);
  if (buffer.address % 256 != 0) in.fail("the address is not aligned");
  for (const auto& [other_id, other] : s.buffers) {
    if (buffer.address < other.address + other.size_bytes && other.address < buffer.address + size_bytes) {
      in.fail("the buffer overlaps another");
    }
  }
  if (const Status status = in.end(); !status) return s.lose(Loss::Kind::other, status.error().message);
  s.buffers[id] = buffer;
  return buffer;
}

void RemoteDevice::do_release(const DeviceBuffer& buffer) {
  State& s = *state_;
  const bool here = s.holds(buffer);
  s.buffers.erase(buffer.id);
  if (s.buffers.empty()) s.loss.reset();
  if (here) s.ask_or_lose({{"ask", "release"}, {"id", buffer.id}});
}

void RemoteDevice::do_protect(const DeviceBuffer& buffer) {
  State& s = *state_;
  if (s.holds(buffer)) s.ask_or_lose({{"ask", "protect"}, {"id", buffer.id}});
}

void RemoteDevice::do_lay_out(std::uint64_t seed) {
  State& s = *state_;
  if (s.worker) s.ask_or_lose({{"ask", "lay_out"}, {"seed", seed}});
}

void RemoteDevice::do_write(const DeviceBuffer& buffer, std::uint64_t offset_bytes,
                            std::span<const std::uint8_t> data) {
  State& s = *state_;
  while (!data.empty() && s.holds(buffer)) {
    const auto piece = data.first(std::min<std::size_t>(data.size(), kSharedBytes));
    s.worker->shared().put(piece);
    s.ask_or_lose({{"ask", "write"}, {"id", buffer.id}, {"offset_bytes", offset_bytes}, {"size_bytes", piece.size()}});
    data = data.subspan(piece.size());
    offset_bytes += piece.size();
  }
}

void RemoteDevice::do_read(const DeviceBuffer& buffer, std::uint64_t offset_bytes, std::span<std::uint8_t> data) const {
  State& s = *state_;
  std::span<std::uint8_t> rest = data;
  while (!rest.empty() && s.holds(buffer)) {
    const auto piece = rest.first(std::min<std::size_t>(rest.size(), kSharedBytes));
    s.ask_or_lose({{"ask", "read"}, {"id", buffer.id}, {"offset_bytes", offset_bytes}, {"size_bytes", piece.size()}});
    if (s.worker) s.worker->shared().take(piece);
    rest = rest.subspan(piece.size());
    offset_bytes += piece.size();
  }
  if (!data.empty() && !s.worker) std::fill(data.begin(), data.end(), std::uint8_t{0});
}

void RemoteDevice::do_forget(const DeviceBuffer& buffer, std::uint64_t offset_bytes, std::uint64_t size_bytes) {
  State& s = *state_;
  if (!s.holds(buffer)) return;
  s.ask_or_lose({{"ask", "forget"}, {"id", buffer.id}, {"offset_bytes", offset_bytes}, {"size_bytes", size_bytes}});
}

Status RemoteDevice::do_load(const Artifact& artifact) {
  State& s = *state_;
  ROOFWALK_TRY_STATUS(s.usable());
  s.loaded = false;
  s.source_path = artifact.source_path;
  std::string texts;
  const Json packed = packed_json(artifact, texts);
  ROOFWALK_TRY(const Json value,
               s.ask({{"ask", "load"}, {"artifact", packed}},
                     {reinterpret_cast<const std::uint8_t*>(texts.data()), texts.size()}, s.limits.load_s));
  s.loaded = true;
  return kOk;
}

std::optional<Result<Plan>> RemoteDevice::do_plan(std::span<const ArgumentBytes> arguments,
                                                  const AllocateScratch& allocate_scratch) {
  if (!state_->duties.plans) return std::nullopt;
  return plan_there(arguments, allocate_scratch);
}

Result<Plan> RemoteDevice::plan_there(std::span<const ArgumentBytes> arguments,
                                      const AllocateScratch& allocate_scratch) {
  State& s = *state_;
  ROOFWALK_TRY_STATUS(s.usable());
  Json sizes = Json::array(), scratch = Json::array();
  std::vector<std::uint8_t> bytes;
  for (const ArgumentBytes& argument : arguments) {
    sizes.push_back(argument.size());
    bytes.insert(bytes.end(), argument.begin(), argument.end());
  }
  const auto deadline = after(s.limits.load_s);
  while (true) {
    const double left_s = std::chrono::duration<double>(deadline - Clock::now()).count();
    ROOFWALK_TRY(const Json value,
                 s.ask({{"ask", "plan"}, {"sizes", sizes}, {"scratch", scratch}}, bytes, left_s, kMostHeadBytes));
    std::optional<Json> packed;
    std::string hex;
    std::uint64_t scratch_bytes = 0;
    JsonReader in(value, "its plan");
    in.unless_null("plan", [&](const Json& json) -> Status {
      packed = json;
      return kOk;
    });
    in.text("arguments", hex, kMostHeadBytes);
    in.whole("scratch_bytes", scratch_bytes, std::uint64_t{0}, PlanLimits{}.max_scratch_bytes);
    if (!packed && scratch.size() == PlanLimits{}.max_scratch_buffers) in.fail("it asks for scratch memory for ever");
    if (const Status status = in.end(); !status) return s.lose(Loss::Kind::other, status.error().message);
    if (packed) {
      const auto argument_bytes = bytes_from_hex(hex);
      if (!argument_bytes) return s.lose(Loss::Kind::other, argument_bytes.error().message);
      auto plan = plan_from_json(*packed, *argument_bytes);
      if (!plan) return s.lose(Loss::Kind::other, plan.error().message);
      return plan;
    }
    const auto address = allocate_scratch(scratch_bytes);
    // A device that is there has less memory than the file asks for.
    if (!address && do_alive()) return Error{.message = address.error().message, .file = s.source_path};
    if (!address) return address.error();
    scratch.push_back(*address);
  }
}

Result<RunRecord> RemoteDevice::do_run(const Plan& plan, const RunOptions& options) {
  constexpr double kLongestSeconds = 1e6;  // replaces larger values, such as infinity, which a clock cannot represent
  State& s = *state_;
  ROOFWALK_TRY_STATUS(s.usable());
  if (!s.loaded) return Error{.message = "nothing is loaded: the device was lost, and is a fresh one"};
  RunOptions bounded = options;
  bounded.max_seconds = std::clamp(options.max_seconds, 0.0, kLongestSeconds);
  std::vector<std::uint8_t> arguments;
  const Json packed = packed_json(plan, arguments);
  const double seconds = bounded.max_seconds + s.limits.run_slack_s;
  const auto began = Clock::now();
  const auto answer =
      s.ask({{"ask", "run"}, {"plan", packed}, {"options", to_json(bounded)}}, arguments, seconds, kMostHeadBytes);
  const double wall_ns = std::chrono::duration<double, std::nano>(Clock::now() - began).count();
  if (!answer) {
    const bool is_fault = s.last_loss && s.duties.kernels_may_end_it &&
                          (s.last_loss->kind == Loss::Kind::late || s.last_loss->kind == Loss::Kind::died);
    if (is_fault) return fault_of(*s.last_loss, plan, seconds);
    return answer.error();
  }
  auto record = record_of_run(*answer, plan, wall_ns);
  if (!record && s.worker) return s.lose(Loss::Kind::other, record.error().message);
  return record;
}

// Returns the record of a run whose worker was lost during the run.
RunRecord RemoteDevice::fault_of(const Loss& loss, const Plan& plan, double seconds) const {
  RunRecord record;
  record.device = state_->name;
  Fault fault;
  fault.file = state_->source_path;
  // If there is a single launch, the fault is at its line.
  const auto is_launch = [](const PlanStep& step) { return std::holds_alternative<KernelLaunch>(step); };
  if (std::count_if(plan.steps.begin(), plan.steps.end(), is_launch) == 1) {
    fault.line = std::get<KernelLaunch>(*std::find_if(plan.steps.begin(), plan.steps.end(), is_launch)).line;
  }
  if (loss.kind == Loss::Kind::late) {
    fault.kind = FaultKind::runaway;
    fault.message =
        fmt::format("runs too long: it did not end within {:g} s and was stopped; is a loop endless?", seconds);
    if (!loss.error.advice.empty()) fault.message += " (" + loss.error.advice + ")";
  } else {
    fault.kind = FaultKind::trap;
    fault.message = loss.error.text();
  }
  record.fault = std::move(fault);
  return record;
}

}  // namespace

Result<std::unique_ptr<Device>> make_remote_device(WorkerCommand command, std::string device,
                                                   const RemoteLimits& limits, const RemoteDuties& duties) {
  auto remote = std::make_unique<RemoteDevice>(std::move(command), std::move(device), limits, duties);
  ROOFWALK_TRY_STATUS(remote->start());
  return std::unique_ptr<Device>(std::move(remote));
}

}  // namespace roofwalk
