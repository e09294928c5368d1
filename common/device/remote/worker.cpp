#include "common/device/remote/worker.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "common/base/child.h"
#include "common/base/json_reader.h"
#include "common/build/artifact_json.h"
#include "common/device/remote/messages.h"
#include "common/device/remote/shared_memory.h"
#include "common/device/remote/wire.h"
#include "common/plan/plan_json.h"
#include "common/record/run_record_json.h"

namespace roofwalk {
namespace {

// Captures stdout while the device works, because printf on a real GPU writes there. A thread empties the pipe, so
// that writers never block for long.
class PrintedByDevice {
 public:
  PrintedByDevice() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return;
    // The writing end may block while the pipe is full; the reading end must not.
    ::fcntl(ends[1], F_SETFL, 0);
    read_.reset(ends[0]);
    ::dup2(ends[1], STDOUT_FILENO);
    ::close(ends[1]);
    std::thread([this] { empty_for_ever(); }).detach();
  }

  // Returns the output since the last call.
  Printed take() {
    std::fflush(stdout);
    const std::lock_guard lock(mutex_);
    empty();
    Printed out{plain_text(text_), more_lines_};
    text_.clear();
    more_lines_ = 0;
    return out;
  }

 private:
  static constexpr std::size_t kKept = 64 << 10;  // as much as the virtual GPU keeps

  void empty_for_ever() {
    pollfd waiting{read_.get(), POLLIN, 0};
    while (::poll(&waiting, 1, -1) >= 0 || errno == EINTR) {
      const std::lock_guard lock(mutex_);
      empty();
    }
  }

  void empty() {
    char buffer[16384];
    for (ssize_t count; (count = ::read(read_.get(), buffer, sizeof buffer)) > 0;) {
      const std::size_t kept = std::min(static_cast<std::size_t>(count), kKept - text_.size());
      text_.append(buffer, kept);
      more_lines_ += static_cast<std::uint64_t>(std::count(buffer + kept, buffer + count, '\n'));
    }
  }

  Descriptor read_;
  std::mutex mutex_;
  std::string text_;
  std::uint64_t more_lines_ = 0;
};

class Server {
 public:
  // `shared` holds the bytes of `write` and `read`.
  Server(Device& device, std::span<std::uint8_t> shared) : device_(device), shared_(shared) {}

  // Answers one request. False if the connection has ended.
  bool answer_one(Wire& wire) {
    constexpr std::uint64_t kMostBody = 256 << 20;
    Wire::Head head;
    if (wire.take_head(head) || head.body_bytes > kMostBody) return false;
    body_.resize(head.body_bytes);
    if (wire.take_body(body_)) return false;
    Json answer{{"error", nullptr}, {"lost", nullptr}, {"value", nullptr}};
    const auto value = answer_or_error(head.json);
    if (value) {
      answer["value"] = *value;
    } else {
      answer["error"] = to_json(value.error());
    }
    if (const Status alive = device_.alive(); !alive) answer["lost"] = to_json(alive.error());
    const auto trouble = wire.send(head.serial, answer, {});
    if (trouble && trouble->kind == WireTrouble::Kind::too_long) {
      answer["value"] = nullptr;
      answer["error"] = to_json(Error{.message = "the record of the run is too long (more than 64 MiB)",
                                      .file = loaded_ ? loaded_->source_path : "",
                                      .advice = "launch less often, or give kernels shorter names"});
      return !wire.send(head.serial, answer, {});
    }
    return !trouble;
  }

 private:
  Result<Json> answer_or_error(const Json& request) {
    try {
      return answer(request);
    } catch (const std::exception& error) {  // out of memory
      return Error{.message = std::string("the device's process: ") + error.what()};
    }
  }

  Result<Json> answer(const Json& request) {
    JsonReader in(request, "the request");
    std::string ask;
    in.text("ask", ask);
    if (ask == "allocate") return allocate(in);
    if (ask == "load") return load(in);
    if (ask == "plan") return plan(in);
    if (ask == "run") return run(in);
    if (ask == "lay_out") return lay_out(in);
    return touch(in, ask);
  }

  Result<Json> allocate(JsonReader& in) {
    int id = 0;
    std::string name;
    std::uint64_t size_bytes = 0;
    std::uint32_t element_bytes = 0;
    in.whole("id", id);
    in.text("name", name);
    in.whole("size_bytes", size_bytes, std::uint64_t{1});
    in.whole("element_bytes", element_bytes, 1u);
    ROOFWALK_TRY_STATUS(in.end());
    ROOFWALK_TRY(const DeviceBuffer buffer, device_.allocate(name, size_bytes, element_bytes));
    buffers_[id] = buffer;
    return Json{{"address", buffer.address}};
  }

  Result<Json> lay_out(JsonReader& in) {
    std::uint64_t seed = 0;
    in.whole("seed", seed);
    ROOFWALK_TRY_STATUS(in.end());
    device_.lay_out(seed);
    return Json::object();
  }

  Result<Json> load(JsonReader& in) {
    Artifact artifact;
    in.with("artifact", [&](const Json& json) -> Status {
      ROOFWALK_TRY(artifact, artifact_from_json(json, {reinterpret_cast<const char*>(body_.data()), body_.size()}));
      return kOk;
    });
    ROOFWALK_TRY_STATUS(in.end());
    loaded_.reset();
    ROOFWALK_TRY_STATUS(device_.load(artifact));
    loaded_ = std::move(artifact);
    return Json::object();
  }

  // Makes the plan from its start. If it needs a scratch buffer that does not exist yet, the answer is the buffer's
  // size; the client allocates the buffer and asks again with one address more. Planning is deterministic, so the same
  // buffers are needed each time.
  Result<Json> plan(JsonReader& in) {
    if (!loaded_) return Error{.message = "the request: nothing is loaded"};
    const PlanLimits limits;
    std::vector<ArgumentBytes> arguments;
    std::vector<std::uint64_t> scratch;
    std::size_t at = 0;
    in.each("sizes", kMostArguments, [&](const Json& size) -> Status {
      if (!size.is_number_unsigned() || size.get<std::uint64_t>() > body_.size() - at) {
        return Error{.message = "the request: the sizes of the arguments are not theirs"};
      }
      const auto begin = body_.begin() + static_cast<std::ptrdiff_t>(at);
      at += size.get<std::size_t>();
      arguments.emplace_back(begin, body_.begin() + static_cast<std::ptrdiff_t>(at));
      return kOk;
    });
    in.each("scratch", limits.max_scratch_buffers, [&](const Json& address) -> Status {
      if (!address.is_number_unsigned()) return Error{.message = "the request: an address is a whole number"};
      scratch.push_back(address.get<std::uint64_t>());
      return kOk;
    });
    ROOFWALK_TRY_STATUS(in.end());
    std::optional<std::uint64_t> wanted;  // size of the first scratch buffer that does not exist yet
    std::size_t given = 0;
    const auto made = make_plan(
        *loaded_, arguments,
        [&](std::uint64_t size_bytes) -> Result<std::uint64_t> {
          if (given < scratch.size()) return scratch[given++];
          wanted = size_bytes;
          return Error{.message = "this scratch buffer is to be made first"};
        },
        limits, &device_.machine());
    if (wanted) return Json{{"plan", nullptr}, {"arguments", ""}, {"scratch_bytes", *wanted}};
    if (!made) return made.error();
    std::vector<std::uint8_t> bytes;
    Json plan = packed_json(*made, bytes);
    return Json{{"plan", std::move(plan)}, {"arguments", hex_text(bytes)}, {"scratch_bytes", 0}};
  }

  Result<Json> run(JsonReader& in) {
    Plan plan;
    RunOptions options;
    in.with("plan", [&](const Json& json) -> Status {
      ROOFWALK_TRY(plan, plan_from_json(json, body_));
      return kOk;
    });
    in.with("options", [&](const Json& json) -> Status {
      ROOFWALK_TRY(options, run_options_from_json(json));
      return kOk;
    });
    ROOFWALK_TRY_STATUS(in.end());
    printed_.take();
    auto record = device_.run(plan, options);
    Printed printed = printed_.take();
    if (!record) return record.error();
    if (record->printed == Printed{}) record->printed = std::move(printed);
    return Json{{"record", whole_json(*record)}};
  }

  // Handles requests about one buffer or a range of it.
  Result<Json> touch(JsonReader& in, const std::string& ask) {
    int id = 0;
    std::uint64_t offset_bytes = 0, size_bytes = 0;
    in.whole("id", id);
    if (ask != "release" && ask != "protect") {
      in.whole("offset_bytes", offset_bytes);
      in.whole("size_bytes", size_bytes, std::uint64_t{0}, ask == "forget" ? ~std::uint64_t{0} : shared_.size());
    }
    ROOFWALK_TRY_STATUS(in.end());
    const auto at = buffers_.find(id);
    if (at == buffers_.end()) return Error{.message = "the request: there is no such buffer"};
    const DeviceBuffer buffer = at->second;
    if (offset_bytes > buffer.size_bytes || size_bytes > buffer.size_bytes - offset_bytes) {
      return Error{.message = "the request: these bytes are not in the buffer"};
    }
    if (ask == "release") {
      device_.release(buffer);
      buffers_.erase(at);
    } else if (ask == "protect") {
      device_.protect(buffer);
    } else if (ask == "write") {
      device_.write(buffer, offset_bytes, shared_.first(size_bytes));
    } else if (ask == "read") {
      device_.read(buffer, offset_bytes, shared_.first(size_bytes));
    } else if (ask == "forget") {
      device_.forget(buffer, offset_bytes, size_bytes);
    } else {
      return Error{.message = "the request: nobody knows what it asks for"};
    }
    return Json::object();
  }

  Device& device_;
  // Never destroyed, because its thread lives as long as the process.
  PrintedByDevice& printed_ = *new PrintedByDevice;
  std::map<int, DeviceBuffer> buffers_;
  std::optional<Artifact> loaded_;
  std::span<std::uint8_t> shared_;
  std::vector<std::uint8_t> body_;
};

Json hello(const Result<std::unique_ptr<Device>>& device) {
  Json answer{{"error", nullptr}, {"lost", nullptr}, {"value", nullptr}};
  if (!device) {
    answer["error"] = to_json(device.error());
    return answer;
  }
  Json counters = Json::array();
  for (std::size_t i = 0; i < kCounterCount; ++i) {
    if ((*device)->supports(static_cast<Counter>(i))) counters.push_back(counter_name(static_cast<Counter>(i)));
  }
  const DeviceIdentity identity = (*device)->identity();
  answer["value"] = {{"protocol", kWorkerProtocol}, {"machine", to_json((*device)->machine())},
                     {"uuid", identity.uuid},       {"driver_version", identity.driver_version},
                     {"card", identity.name},       {"counters", std::move(counters)}};
  return answer;
}

// Makes this process the first to be killed when memory runs out. Raising the score needs no privilege.
void offer_itself_to_the_oom_killer() {
  if (std::FILE* file = std::fopen("/proc/self/oom_score_adj", "we")) {
    std::fputs("1000", file);
    std::fclose(file);
  }
}

}  // namespace

bool is_worker() {
  int domain = 0, type = 0;
  socklen_t size = sizeof domain;
  if (::getsockopt(kChannelDescriptor, SOL_SOCKET, SO_DOMAIN, &domain, &size) != 0 || domain != AF_UNIX) return false;
  size = sizeof type;
  return ::getsockopt(kChannelDescriptor, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
}

int serve_device(const std::function<Result<std::unique_ptr<Device>>()>& open) {
  ::fcntl(kChannelDescriptor, F_SETFD, FD_CLOEXEC);  // the device's child programs must not hold the connection open
  offer_itself_to_the_oom_killer();
  const auto shared = open_shared_memory();
  const auto device = shared ? open() : Result<std::unique_ptr<Device>>(shared.error());
  Wire wire(kChannelDescriptor);
  if (wire.send(0, hello(device), {})) return 1;
  if (!device) return 1;
  Server server(**device, *shared);
  while (server.answer_one(wire)) {
  }
  return 0;
}

}  // namespace roofwalk
