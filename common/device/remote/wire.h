// Messages over a socketpair, each a JSON head and raw bytes. Incoming data is untrusted.
//
// A message is 24 bytes (magic u32, head bytes u32, body bytes u64, serial u64, in host byte order, as both ends are on
// one machine), then the head's text, then the body.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "common/base/json.h"
#include "common/base/result.h"

namespace roofwalk {

// Longer heads are never sent; if one is received, the connection ends.
inline constexpr std::uint32_t kMostHeadBytes = 64 << 20;

struct WireTrouble {
  enum class Kind { closed, late, malformed, too_long };
  Kind kind = Kind::closed;
  std::string message;  // one line: "it closed the connection"
};

class Wire {
 public:
  using Deadline = std::optional<std::chrono::steady_clock::time_point>;  // nullopt: no limit

  struct Head {
    std::uint64_t serial = 0;
    Json json;
    std::uint64_t body_bytes = 0;
  };

  // The caller owns both descriptors, which stay open. `words_fd` is the other side's stderr; it is read during
  // transfers, so that the other side never blocks on it; -1: none.
  explicit Wire(int fd, int words_fd = -1) : fd_(fd), words_fd_(words_fd) {}

  // Bytes of strings in `head` that are not UTF-8 are sent as U+FFFD.
  std::optional<WireTrouble> send(std::uint64_t serial, const Json& head, std::span<const std::uint8_t> body,
                                  Deadline deadline = {});
  // Receives the next message without its body, which must then be read with take_body. All strings are plain_text.
  std::optional<WireTrouble> take_head(Head& head, Deadline deadline = {}, std::uint32_t most_bytes = kMostHeadBytes);
  std::optional<WireTrouble> take_body(std::span<std::uint8_t> body, Deadline deadline = {});

  // Returns the last line from words_fd, at most a few hundred bytes; plain_text.
  std::string last_words();

 private:
  std::optional<WireTrouble> wait(short events, Deadline deadline);
  std::optional<WireTrouble> send_all(std::span<const std::uint8_t> bytes, Deadline deadline);
  void take_words();

  int fd_, words_fd_;
  std::string words_;
};

// Parses untrusted JSON. Limits are checked before values are built: at most 16 levels, and 128 members per object.
// Errors: invalid JSON, or over a limit.
Result<Json> parse_untrusted(std::string_view text);

// Returns the text as UTF-8 without control characters except newlines and tabs; anything else becomes '?'.
std::string plain_text(std::string_view text);

}  // namespace roofwalk
