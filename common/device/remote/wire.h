// Messages over a socketpair: a head in JSON and raw bytes. Nothing that comes in is trusted.
//
// A message is 24 bytes (magic u32, head bytes u32, body bytes u64, serial u64, as this machine writes them: both ends
// are on it), then the head's text, then the body.
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

// A head longer than this is never sent, and ends the conversation when it comes in.
inline constexpr std::uint32_t kMostHeadBytes = 64 << 20;

struct WireTrouble {
  enum class Kind { closed, late, malformed, too_long };
  Kind kind = Kind::closed;
  std::string message;  // one line: "it closed the connection"
};

class Wire {
 public:
  using Deadline = std::optional<std::chrono::steady_clock::time_point>;  // none: for ever

  struct Head {
    std::uint64_t serial = 0;
    Json json;
    std::uint64_t body_bytes = 0;
  };

  // Both are the caller's, and stay open. From `words_fd` what the other side writes to its stderr is read meanwhile,
  // so that it never waits for a reader; -1: there is none.
  explicit Wire(int fd, int words_fd = -1) : fd_(fd), words_fd_(words_fd) {}

  // Texts of `head` that are not UTF-8 are sent as plain_text has them.
  std::optional<WireTrouble> send(std::uint64_t serial, const Json& head, std::span<const std::uint8_t> body,
                                  Deadline deadline = {});
  // The next message up to its body, which take_body must fetch. All texts are plain_text.
  std::optional<WireTrouble> take_head(Head& head, Deadline deadline = {}, std::uint32_t most_bytes = kMostHeadBytes);
  std::optional<WireTrouble> take_body(std::span<std::uint8_t> body, Deadline deadline = {});

  // The last line of what came in at words_fd, at most some hundred bytes of it; plain_text.
  std::string last_words();

 private:
  std::optional<WireTrouble> wait(short events, Deadline deadline);
  std::optional<WireTrouble> send_all(std::span<const std::uint8_t> bytes, Deadline deadline);
  void take_words();

  int fd_, words_fd_;
  std::string words_;
};

// JSON from text that may be anything, bounded before anything is built: at most 16 levels deep, and 128 members in an
// object. Errors: it is not that.
Result<Json> parse_untrusted(std::string_view text);

// The text as UTF-8 without control characters but for line ends and tabs: what is neither becomes '?'.
std::string plain_text(std::string_view text);

}  // namespace roofwalk
