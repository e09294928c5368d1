#include "common/device/remote/wire.h"
#include "common/base/json.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "common/base/child.h"

namespace roofwalk {
namespace {

using Kind = WireTrouble::Kind;
using std::chrono::milliseconds;

struct Pair {
  Pair() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    left.reset(ends[0]);
    right.reset(ends[1]);
  }
  Descriptor left, right;
};

Wire::Deadline soon(int ms = 200) { return std::chrono::steady_clock::now() + milliseconds(ms); }

TEST(Wire, MessagesArriveAsTheyWereSentAlsoWhenTheyFillTheSocket) {
  Pair pair;
  Wire sender(pair.left.get()), receiver(pair.right.get());
  std::vector<std::uint8_t> body(3'000'000);
  for (std::size_t i = 0; i < body.size(); ++i) body[i] = static_cast<std::uint8_t>(i * 7 >> 3);
  const Json json{{"text", std::string(100'000, 'a')}, {"number", 0.1}, {"most", ~0ull}};
  std::thread sending([&] {
    EXPECT_FALSE(sender.send(41, json, body, soon(20'000)));
    EXPECT_FALSE(sender.send(42, Json::object(), {}, soon(20'000)));
  });
  Wire::Head head;
  ASSERT_FALSE(receiver.take_head(head, soon(20'000)));
  EXPECT_EQ(head.serial, 41u);
  EXPECT_EQ(head.json, json);
  ASSERT_EQ(head.body_bytes, body.size());
  std::vector<std::uint8_t> got(body.size());
  ASSERT_FALSE(receiver.take_body(got, soon(20'000)));
  EXPECT_EQ(got, body);
  ASSERT_FALSE(receiver.take_head(head, soon(20'000)));
  EXPECT_EQ(head.serial, 42u);
  EXPECT_EQ(head.body_bytes, 0u);
  sending.join();
}

TEST(Wire, NobodyWaitsLongerThanTheDeadline) {
  Pair pair;
  Wire wire(pair.left.get());
  Wire::Head head;
  EXPECT_EQ(wire.take_head(head, soon(30))->kind, Kind::late);
  const std::vector<std::uint8_t> more_than_it_holds(8 << 20);
  EXPECT_EQ(wire.send(1, Json::object(), more_than_it_holds, soon(30))->kind, Kind::late);
}

TEST(Wire, AClosedLineIsSaidSoAndEndsNobody) {
  Pair pair;
  Wire wire(pair.left.get());
  pair.right.close();
  Wire::Head head;
  EXPECT_EQ(wire.take_head(head, soon())->kind, Kind::closed);
  const std::vector<std::uint8_t> body(
      1 << 20);  // a write to a closed socket raises SIGPIPE unless the caller suppresses that
  EXPECT_EQ(wire.send(1, Json::object(), body, soon())->kind, Kind::closed);
}

TEST(Wire, WhatIsTooLongIsRefusedBeforeItIsRead) {
  Pair pair;
  Wire sender(pair.left.get()), receiver(pair.right.get());
  ASSERT_FALSE(sender.send(1, Json{{"text", std::string(2000, 'a')}}, {}, soon()));
  Wire::Head head;
  EXPECT_EQ(receiver.take_head(head, soon(), 1000)->kind, Kind::malformed);
}

TEST(Wire, TheOtherSidesLastWordsAreKeptShortAndPlain) {
  Pair pair;
  int words[2];
  ASSERT_EQ(::pipe2(words, O_CLOEXEC | O_NONBLOCK), 0);
  const Descriptor read(words[0]), write(words[1]);
  Wire wire(pair.left.get(), read.get());
  const std::string text = std::string(20'000, 'a') + "\nfirst\nlast \033[1mwords\n\n";
  ASSERT_EQ(::write(write.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  EXPECT_EQ(wire.last_words(), "last ?[1mwords");
}

TEST(UntrustedJson, IsReadWhenItIsPlain) {
  const auto json = parse_untrusted(R"({"a": [1, -2, 3.5, "x\"]}:", null, true], "b": {}})");
  ASSERT_TRUE(json.ok()) << json.error().text();
  EXPECT_EQ(json->at("a").at(3), "x\"]}:");
}

TEST(UntrustedJson, IsRefusedInAMomentWhateverItIs) {
  std::string members = "{";
  for (int i = 0; i < 1'000'000; ++i) members += "\"" + std::to_string(i) + "\":1,";
  std::vector<std::string> texts{"",
                                 "{",
                                 "}",
                                 "]",
                                 "{\"a\":1}}",
                                 "[1,]",
                                 "{\"a\"}",
                                 "nothing",
                                 "1e999",
                                 "\"\\",
                                 "\"",
                                 "[\"\xff\"]",
                                 "{\"a\":nan}",
                                 std::string(1 << 20, '['),
                                 members + "\"x\":1}",
                                 std::string(17, '[') + std::string(17, ']')};
  std::string nested;
  for (int i = 0; i < 100'000; ++i) nested += "{\"a\":";
  texts.push_back(nested);
  const auto start = std::chrono::steady_clock::now();
  for (const std::string& text : texts) EXPECT_FALSE(parse_untrusted(text).ok()) << text.substr(0, 40);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

TEST(PlainText, KeepsUtf8AndLineEndsAndNothingThatSteersATerminal) {
  EXPECT_EQ(plain_text("a\tb\nµ € 𝄞"), "a\tb\nµ € 𝄞");
  EXPECT_EQ(plain_text("\033[31m\x7f\r"), "?[31m??");
  EXPECT_EQ(plain_text("\xc2\x9b"
                       "x"),
            "?x");                                                   // CSI, as UTF-8
  EXPECT_EQ(plain_text("\x9b\xff\xc0\xaf"), "????");                 // not UTF-8
  EXPECT_EQ(plain_text("\xed\xa0\x80\xf4\x90\x80\x80"), "???????");  // a surrogate; a code point beyond the last one
  EXPECT_EQ(plain_text("\xe2\x82"), "??");                           // incomplete
}

}  // namespace
}  // namespace roofwalk
