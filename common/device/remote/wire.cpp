#include "common/device/remote/wire.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "common/base/json.h"

namespace roofwalk {
namespace {

constexpr std::uint32_t kMagic = 0x31574b52;  // "RKW1"

struct Prefix {
  std::uint32_t magic = kMagic;
  std::uint32_t head_bytes = 0;
  std::uint64_t body_bytes = 0;
  std::uint64_t serial = 0;
};
static_assert(sizeof(Prefix) == 24);

WireTrouble closed() { return {WireTrouble::Kind::closed, "it closed the connection"}; }
WireTrouble malformed(std::string message) { return {WireTrouble::Kind::malformed, std::move(message)}; }

template <class T>
std::span<const std::uint8_t> bytes_of(const T& value) {
  return {reinterpret_cast<const std::uint8_t*>(&value), sizeof value};
}

std::span<const std::uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

// Returns the length in bytes of the UTF-8 character at the start of `text`; 0 if it is invalid.
std::size_t character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t count = first >= 0xf0 && first < 0xf5 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
  if (first >= 0xf5 || count == 0 || text.size() < count) return 0;
  for (std::size_t i = 1; i < count; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  // Invalid: overlong encodings, surrogate halves, and code points beyond the last one.
  const bool odd = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) >= 0xa0) ||
                   (first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) >= 0x90);
  return odd ? 0 : count;
}

void make_plain(Json& json) {
  if (json.is_string()) {
    auto& text = json.text();
    text = plain_text(text);
  } else if (json.is_structured()) {
    for (Json& item : json) make_plain(item);
  }
}

}  // namespace

std::string plain_text(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t bytes = character_bytes(text);
    const auto first = static_cast<unsigned char>(text[0]);
    const bool control = (first < 0x20 && first != '\n' && first != '\t') || first == 0x7f ||
                         (first == 0xc2 && bytes == 2 && static_cast<unsigned char>(text[1]) < 0xa0);
    if (bytes == 0 || control) {
      out += '?';
    } else {
      out += text.substr(0, bytes);
    }
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return out;
}

Result<Json> parse_untrusted(std::string_view text) {
  // These limits are needed because the library searches members linearly and frees nested values recursively.
  constexpr std::size_t kMostLevels = 16, kMostMembers = 128;
  std::array<std::size_t, kMostLevels + 1> members{};
  std::size_t level = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_text) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        in_text = false;
      }
    } else if (c == '"') {
      in_text = true;
    } else if (c == '{' || c == '[') {
      if (++level > kMostLevels) return Error{.message = "its JSON is too deep"};
      members[level] = 0;
    } else if (c == '}' || c == ']') {
      if (level-- == 0) return Error{.message = "it is not JSON"};
    } else if (c == ':' && ++members[level] > kMostMembers) {
      return Error{.message = "its JSON has an object of too many members"};
    }
  }
  Json json = parse_json(text);
  if (json.is_discarded()) return Error{.message = "it is not JSON"};
  return json;
}

std::optional<WireTrouble> Wire::wait(short events, Deadline deadline) {
  while (true) {
    int patience_ms = -1;
    if (deadline) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - std::chrono::steady_clock::now());
      if (left.count() <= 0) return WireTrouble{WireTrouble::Kind::late, "it did not answer in time"};
      patience_ms = static_cast<int>(std::min<std::int64_t>(left.count(), 1'000'000));
    }
    pollfd waiting[] = {{fd_, events, 0}, {words_fd_, POLLIN, 0}};
    const int ready = ::poll(waiting, 2, patience_ms);
    if (ready < 0 && errno != EINTR) return closed();
    if (ready <= 0) continue;
    if (waiting[1].revents != 0) take_words();
    if (waiting[0].revents != 0) return std::nullopt;
  }
}

std::optional<WireTrouble> Wire::send_all(std::span<const std::uint8_t> bytes, Deadline deadline) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (auto trouble = wait(POLLOUT, deadline)) return trouble;
    } else if (errno != EINTR) {
      return closed();
    }
  }
  return std::nullopt;
}

std::optional<WireTrouble> Wire::send(std::uint64_t serial, const Json& head, std::span<const std::uint8_t> body,
                                      Deadline deadline) {
  const std::string text = json_line(head);
  if (text.size() > kMostHeadBytes) {
    return WireTrouble{WireTrouble::Kind::too_long, "the message is longer than 64 MiB"};
  }
  const Prefix prefix{
      .head_bytes = static_cast<std::uint32_t>(text.size()), .body_bytes = body.size(), .serial = serial};
  if (auto trouble = send_all(bytes_of(prefix), deadline)) return trouble;
  if (auto trouble = send_all(bytes_of(text), deadline)) return trouble;
  return send_all(body, deadline);
}

std::optional<WireTrouble> Wire::take_body(std::span<std::uint8_t> body, Deadline deadline) {
  while (!body.empty()) {
    const ssize_t count = ::recv(fd_, body.data(), body.size(), MSG_DONTWAIT);
    if (count > 0) {
      body = body.subspan(static_cast<std::size_t>(count));
    } else if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      if (auto trouble = wait(POLLIN, deadline)) return trouble;
    } else if (count == 0 || errno != EINTR) {
      return closed();
    }
  }
  return std::nullopt;
}

std::optional<WireTrouble> Wire::take_head(Head& head, Deadline deadline, std::uint32_t most_bytes) {
  Prefix prefix;
  if (auto trouble = take_body({reinterpret_cast<std::uint8_t*>(&prefix), sizeof prefix}, deadline)) return trouble;
  if (prefix.magic != kMagic) return malformed("it sent what is no message");
  if (prefix.head_bytes > most_bytes) return malformed("it sent a message that is too long");
  std::string text(prefix.head_bytes, '\0');
  if (auto trouble = take_body({reinterpret_cast<std::uint8_t*>(text.data()), text.size()}, deadline)) return trouble;
  auto json = parse_untrusted(text);
  if (!json) return malformed("it sent what is no message: " + json.error().message);
  make_plain(*json);
  head = {prefix.serial, std::move(*json), prefix.body_bytes};
  return std::nullopt;
}

void Wire::take_words() {
  constexpr std::size_t kKept = 4096;
  char buffer[4096];
  const ssize_t count = ::read(words_fd_, buffer, sizeof buffer);
  if (count < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (count <= 0) {
    words_fd_ = -1;
    return;
  }
  words_.append(buffer, static_cast<std::size_t>(count));
  if (words_.size() > 2 * kKept) words_.erase(0, words_.size() - kKept);
}

std::string Wire::last_words() {
  constexpr std::size_t kMost = 300;
  pollfd waiting{words_fd_, POLLIN, 0};
  for (int i = 0; i < 64 && words_fd_ >= 0 && ::poll(&waiting, 1, 0) > 0; ++i) take_words();
  std::string_view text = words_;
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  text.remove_prefix(text.rfind('\n') + 1);  // if there is no newline, npos + 1 is 0
  return plain_text(text.substr(0, kMost));
}

}  // namespace roofwalk
