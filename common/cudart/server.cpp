#include "common/cudart/server.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include <fmt/format.h>

#include "common/cudart/errors.h"

namespace roofwalk::cudart {
namespace {

namespace fs = std::filesystem;

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

bool send_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

// Sends one byte that carries a descriptor.
bool send_descriptor(int socket, int passed) {
  char byte = 0;
  iovec data{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof passed)] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof passed);
  std::memcpy(CMSG_DATA(header), &passed, sizeof passed);
  return sendmsg(socket, &message, MSG_NOSIGNAL) == 1;
}

}  // namespace

struct Server::Program {
  Program(int fd, const SessionOptions& options, KernelRecords& records) : socket(fd), session(options, records) {}
  Descriptor socket;
  Session session;
};

Result<std::unique_ptr<Server>> Server::start(SessionOptions options, KernelRecords& records) {
  const auto refuse = [](std::string_view what) {
    return Error{.message = fmt::format("cannot {}: {}", what, std::strerror(errno)), .file = "/tmp"};
  };
  char folder[] = "/tmp/roofwalk-XXXXXX";
  if (mkdtemp(folder) == nullptr) return refuse("make a folder for the socket");
  Descriptor listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)), wake(eventfd(0, EFD_CLOEXEC));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = std::string(folder) + "/gpu";
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  constexpr int kWaiting = 64;
  if (listener.get() < 0 || wake.get() < 0 ||
      bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      listen(listener.get(), kWaiting) != 0) {
    Error refused = refuse("listen for programs");
    std::error_code error;
    fs::remove_all(folder, error);
    return refused;
  }
  std::unique_ptr<Server> server(new Server(std::move(options), records, folder, std::move(listener), std::move(wake)));
  server->thread_ = std::thread([serving = server.get()] { serving->serve(); });
  return server;
}

Server::Server(SessionOptions options, KernelRecords& records, fs::path folder, Descriptor listener, Descriptor wake)
    : options_(std::move(options)),
      records_(records),
      folder_(std::move(folder)),
      socket_(folder_ / "gpu"),
      listener_(std::move(listener)),
      wake_(std::move(wake)) {}

Server::~Server() {
  if (thread_.joinable()) {
    stop(0);
    thread_.join();
  }
  std::error_code error;
  fs::remove_all(folder_, error);
}

bool Server::stop(double seconds) {
  is_stopping_ = true;
  const std::uint64_t one = 1;
  if (write(wake_.get(), &one, sizeof one) < 0) return false;
  std::unique_lock lock(mutex_);
  return ended_.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return has_ended_; });
}

void Server::serve() {
  while (!is_stopping_) {
    std::vector<pollfd> watched{{wake_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
    for (const auto& program : programs_) watched.push_back({program->socket.get(), POLLIN, 0});
    if (poll(watched.data(), watched.size(), -1) < 0) continue;
    for (std::size_t i = watched.size(); i-- > 2;) {
      if (watched[i].revents == 0 || serve_call(*programs_[i - 2])) continue;
      programs_.erase(programs_.begin() + static_cast<std::ptrdiff_t>(i - 2));
    }
    if (watched[1].revents != 0) accept_program();
  }
  const std::lock_guard lock(mutex_);
  has_ended_ = true;
  ended_.notify_all();
}

void Server::accept_program() {
  const int fd = accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC);
  if (fd < 0) return;
  programs_.push_back(std::make_unique<Program>(fd, options_, records_));
  records_.connected();
}

bool Server::serve_call(Program& program) {
  const int fd = program.socket.get();
  Request request;
  if (!read_all(fd, &request, sizeof request) || request.size_bytes > kMostMessageBytes) return false;
  std::string payload(request.size_bytes, '\0');
  if (!read_all(fd, payload.data(), payload.size())) return false;
  const Reply reply = program.session.handle(request.call, payload);
  Answer answer;
  answer.error = reply.error;
  answer.printed_bytes = static_cast<std::uint32_t>(reply.printed.size());
  answer.size_bytes = static_cast<std::uint32_t>(reply.bytes.size());
  answer.now_ns = program.session.now_ns();
  std::string bytes(reinterpret_cast<const char*>(&answer), sizeof answer);
  if (!send_all(fd, bytes + reply.printed + reply.bytes)) return false;
  return request.call != Call::hello || reply.error != kSuccess || send_descriptor(fd, program.session.memory_file());
}

}  // namespace roofwalk::cudart
