#include "common/cudart/library/runtime.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

namespace roofwalk::cudart {
namespace {

thread_local cudaError_t last_error = cudaSuccess;

bool read_all(int fd, void* to, std::size_t size_bytes) {
  for (auto* at = static_cast<char*>(to); size_bytes > 0;) {
    const ssize_t got = read(fd, at, size_bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    size_bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

bool send_all(int fd, const void* from, std::size_t size_bytes) {
  for (const auto* at = static_cast<const char*>(from); size_bytes > 0;) {
    const ssize_t sent = send(fd, at, size_bytes, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    at += sent;
    size_bytes -= static_cast<std::size_t>(sent);
  }
  return true;
}

class Asking {
 public:
  explicit Asking(Runtime& run) : run_(run) { run_.is_asking = true; }
  ~Asking() { run_.is_asking = false; }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;

 private:
  Runtime& run_;
};

int receive_descriptor(int socket) {
  char byte = 0;
  iovec data{&byte, 1};
  int received = -1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof received)] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1) return -1;
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS) return -1;
  std::memcpy(&received, CMSG_DATA(header), sizeof received);
  return received;
}

// One write, so that lines of several threads do not mix.
void complain(const std::string& text) {
  const std::string line = "roofwalk: " + text + "\n";
  if (write(STDERR_FILENO, line.data(), line.size()) < 0) return;
}

cudaError_t connect_to_gpu(Runtime& run) {
  const char* const path = std::getenv(kSocketVariable);
  if (path == nullptr) {
    complain("this program needs the virtual GPU: run it as `./roofwalk profile -- PROGRAM`");
    return cudaErrorNoDevice;
  }
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (std::strlen(path) >= sizeof address.sun_path) return cudaErrorNoDevice;
  std::strcpy(address.sun_path, path);
  run.socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect(run.socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    complain("the virtual GPU of this program has gone: `./roofwalk profile` has ended before it");
    return cudaErrorNoDevice;
  }
  Hello hello;
  hello.process = run.process;
  const cudaError_t error = ask_for(Call::hello, hello, run.device);
  if (error != cudaSuccess) return error;
  run.memory_file = receive_descriptor(run.socket);
  return run.memory_file < 0 ? cudaErrorInitializationError : cudaSuccess;
}

}  // namespace

Runtime& runtime() {
  static Runtime* const the_runtime = [] {
    auto* const made = new Runtime;
    // A process that is forked while a thread has the mutex would wait for it for ever.
    pthread_atfork(nullptr, nullptr, [] {
      Runtime& run = runtime();
      new (&run.mutex) std::recursive_mutex;
      run.is_asking = false;
    });
    return made;
  }();
  return *the_runtime;
}

cudaError_t result(cudaError_t error) {
  if (error != cudaSuccess) last_error = error;
  return error;
}

cudaError_t ready() {
  Runtime& run = runtime();
  if (run.process == 0) {
    run.process = getpid();
    run.connect_error = connect_to_gpu(run);
  }
  // As with a real GPU, a process that is forked from one that uses it cannot.
  if (run.process != getpid()) return cudaErrorInitializationError;
  if (run.connect_error != cudaSuccess) return run.connect_error;
  if (run.sticky != cudaSuccess) run.sticky_seen = true;
  return run.sticky;
}

cudaError_t ask(Call call, std::string_view payload, std::string* answer) {
  Runtime& run = runtime();
  // The handler of a signal has come into the middle of a call of its thread.
  if (run.is_asking) return cudaErrorNotPermitted;
  if (payload.size() > kMostMessageBytes) return cudaErrorInvalidValue;
  const Asking asking(run);
  const Request request{call, static_cast<std::uint32_t>(payload.size())};
  Answer head;
  const auto lost = [&run] {
    complain("the virtual GPU has ended in the middle of a call");
    return run.connect_error = cudaErrorDevicesUnavailable;
  };
  // A small message is sent at once: each launch is one.
  constexpr std::size_t kSmall = 4096;
  std::string message(bytes_of(request));
  if (payload.size() <= kSmall) message += payload;
  if (!send_all(run.socket, message.data(), message.size()) ||
      (payload.size() > kSmall && !send_all(run.socket, payload.data(), payload.size())) ||
      !read_all(run.socket, &head, sizeof head)) {
    return lost();
  }
  std::string printed(head.printed_bytes, '\0'), bytes(head.size_bytes, '\0');
  if (!read_all(run.socket, printed.data(), printed.size()) || !read_all(run.socket, bytes.data(), bytes.size()))
    return lost();
  run.now_ns = head.now_ns;
  if (!printed.empty()) std::fwrite(printed.data(), 1, printed.size(), stdout);
  if (answer != nullptr) *answer = std::move(bytes);
  return static_cast<cudaError_t>(head.error);
}

cudaError_t ask_to_run(Call call, std::string_view payload) {
  std::string answer;
  const cudaError_t error = ask(call, payload, &answer);
  if (error != cudaSuccess || answer.size() < sizeof(Launched)) return error;
  Launched launched;
  std::memcpy(&launched, answer.data(), sizeof launched);
  if (launched.fault != 0) runtime().sticky = static_cast<cudaError_t>(launched.fault);
  return cudaSuccess;
}

void say(const std::string& text) {
  if (runtime().socket < 0 || ask(Call::say, text) != cudaSuccess) complain(text);
}

cudaError_t not_served(const char* name) {
  const Lock lock(runtime().mutex);
  static std::set<std::string>* const told = new std::set<std::string>;
  const std::string_view whole = name;
  const bool is_of_textures =  // and of surfaces; the first call of them is told for all
      std::ranges::any_of(std::initializer_list<std::string_view>{"Texture", "Surface", "Array", "Mipmap"},
                          [&](std::string_view part) { return whole.find(part) != std::string_view::npos; });
  if (told->insert(is_of_textures ? "textures" : name).second &&
      (ready() == cudaSuccess || runtime().sticky != cudaSuccess)) {
    say(std::string(name) + (is_of_textures
                                 ? " returns cudaErrorNotSupported: textures, surfaces and their arrays are not "
                                   "modelled; pass a pointer, and read global memory"
                                 : " is not served by the virtual GPU yet: it returns cudaErrorNotSupported"));
  }
  return result(cudaErrorNotSupported);
}

// For not_served.cpp, which does not know cudaError_t.
int report_not_served(const char* name) { return not_served(name); }

namespace {

cudaError_t load(HostModule& module) {
  if (module.number >= 0 || module.error != cudaSuccess) return module.error;
  std::string bytes;
  for (const char* const fat_binary : module.fat_binaries) {
    // The header: a magic number and two numbers of 16 bits, of which the second is its own size; then the size of what
    // follows.
    std::uint16_t own_bytes = 0;
    std::uint64_t rest_bytes = 0;
    std::memcpy(&own_bytes, fat_binary + 6, sizeof own_bytes);
    std::memcpy(&rest_bytes, fat_binary + 8, sizeof rest_bytes);
    bytes.append(fat_binary, own_bytes + rest_bytes);
  }
  AddedModule added;
  std::string answer;
  module.error = ask(Call::add_module, bytes, &answer);
  if (module.error == cudaSuccess && answer.size() == sizeof added) {
    std::memcpy(&added, answer.data(), sizeof added);
    module.number = added.module;
  }
  return module.error;
}

cudaError_t ask_by_name(Call call, HostModule& module, const std::string& name, std::string& answer) {
  const cudaError_t error = load(module);
  if (error != cudaSuccess) return error;
  const NamedInModule question{module.number};
  return ask(call, std::string(bytes_of(question)) + name, &answer);
}

}  // namespace

cudaError_t load(HostKernel& kernel) {
  if (kernel.is_loaded) return kernel.error;
  kernel.is_loaded = true;
  std::string answer;
  kernel.error = ask_by_name(Call::kernel, *kernel.module, kernel.name, answer);
  if (kernel.error != cudaSuccess) return kernel.error;
  std::memcpy(&kernel.figures, answer.data(), sizeof kernel.figures);
  kernel.parameters.resize(kernel.figures.parameters);
  if (!kernel.parameters.empty()) {
    std::memcpy(kernel.parameters.data(), answer.data() + sizeof kernel.figures,
                kernel.parameters.size() * sizeof(ParameterPlace));
  }
  return cudaSuccess;
}

cudaError_t load(HostVariable& variable) {
  if (variable.is_loaded) return cudaSuccess;
  std::string answer;
  const cudaError_t error = ask_by_name(Call::variable, *variable.module, variable.name, answer);
  if (error != cudaSuccess) return error;
  std::memcpy(&variable.place, answer.data(), sizeof variable.place);
  const bool is_managed = variable.managed != nullptr;
  if (is_managed && !map_for_host(variable.place)) return cudaErrorMemoryAllocation;
  variable.is_loaded = true;
  runtime().allocations[variable.place.address] = {
      variable.place, is_managed ? MemoryKind::managed : MemoryKind::device, /*is_variable=*/true};
  if (is_managed) *variable.managed = reinterpret_cast<void*>(variable.place.address);
  return cudaSuccess;
}

bool map_for_host(const Place& place) {
  void* const address = reinterpret_cast<void*>(place.address);
  void* const at = mmap(address, whole_pages(place.size_bytes), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_FIXED_NOREPLACE, runtime().memory_file, static_cast<off_t>(place.file_offset));
  if (at == address) return true;
  say("the program's own memory lies where memory that it shares with the GPU has to be");
  return false;
}

HostVariable* find_variable(const void* shadow_or_address) {
  Runtime& run = runtime();
  if (const auto at = run.variables.find(shadow_or_address); at != run.variables.end()) return at->second.get();
  for (const auto& [shadow, variable] : run.variables) {
    if (variable->managed != nullptr && *variable->managed == shadow_or_address) return variable.get();
  }
  return nullptr;
}

HostKernel* find_kernel(const void* stub_or_handle) {
  Runtime& run = runtime();
  if (const auto at = run.kernels.find(stub_or_handle); at != run.kernels.end()) return at->second.get();
  auto* const handle = static_cast<HostKernel*>(const_cast<void*>(stub_or_handle));
  return run.handles.contains(handle) ? handle : nullptr;
}

const Allocation* find_allocation(const void* address) {
  const auto at = reinterpret_cast<std::uint64_t>(address);
  auto next = runtime().allocations.upper_bound(at);
  if (next == runtime().allocations.begin()) return nullptr;
  const Allocation& found = std::prev(next)->second;
  return at - found.place.address < found.place.size_bytes ? &found : nullptr;
}

}  // namespace roofwalk::cudart

using namespace roofwalk::cudart;

extern "C" {

// After a fault, the error stays once a call has returned it.
cudaError_t cudaPeekAtLastError(void) {
  const Lock lock(runtime().mutex);
  return runtime().sticky_seen ? runtime().sticky : last_error;
}

cudaError_t cudaGetLastError(void) {
  const Lock lock(runtime().mutex);
  const cudaError_t error = cudaPeekAtLastError();
  last_error = cudaSuccess;
  return error;
}

}  // extern "C"
