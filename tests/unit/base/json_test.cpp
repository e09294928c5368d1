#include "common/base/json.h"

#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <limits>
#include <map>

namespace roofwalk {
namespace {

using testing::ElementsAre;

TEST(Json, AListOfPairsIsAnObjectAndAnyOtherListAnArray) {
  EXPECT_EQ(json_line(Json{{"b", 1}, {"a", {{"x", nullptr}}}}), R"({"b":1,"a":{"x":null}})");
  EXPECT_EQ(json_line(Json{{"b", 1}, {"a", 2, 3}}), R"([["b",1],["a",2,3]])");
  EXPECT_EQ(json_line(Json{{1, 2}}), "[[1,2]]");
  EXPECT_EQ(json_line(Json{"a", "b"}), R"(["a","b"])");
  EXPECT_EQ(json_line(Json::array({{"a", "b"}})), R"([["a","b"]])");
  EXPECT_EQ(json_line(Json::array()), "[]");
  EXPECT_EQ(json_line(Json::object()), "{}");
  EXPECT_EQ(json_line(Json()), "null");
}

TEST(Json, RangesBecomeArraysAndMapsBecomeObjects) {
  EXPECT_EQ(json_line(Json(std::vector<std::string>{"a", "b"})), R"(["a","b"])");
  EXPECT_EQ(json_line(Json(std::array<double, 2>{0.1, 2})), "[0.1,2.0]");
  EXPECT_EQ(json_line(Json(std::vector<bool>{true, false})), "[true,false]");
  EXPECT_EQ(json_line(Json(std::map<std::string, int>{{"a", 1}})), R"({"a":1})");
  EXPECT_EQ(json_line(Json(std::vector<int>())), "[]");
}

TEST(Json, WholeNumbersKeep64Bits) {
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  const std::int64_t least = std::numeric_limits<std::int64_t>::min();
  const Json json = parse_json(json_line(Json{most, least, -1, 7u}));
  EXPECT_EQ(json_line(json), "[18446744073709551615,-9223372036854775808,-1,7]");
  EXPECT_EQ(json[0].get<std::uint64_t>(), most);
  EXPECT_EQ(json[1].get<std::int64_t>(), least);
  EXPECT_EQ(json[2].get<double>(), -1);
  EXPECT_TRUE(json[0].is_number_unsigned());
  EXPECT_FALSE(json[2].is_number_unsigned());
  EXPECT_TRUE(json[2].is_number_integer());
}

TEST(Json, NumbersAreWrittenAsShortAsTheyCanBeReadBack) {
  for (const double number : {0.1, 1.0 / 3, 1e300, 5e-324, -0.0}) {
    EXPECT_EQ(parse_json(json_line(Json(number))).get<double>(), number);
  }
  EXPECT_EQ(json_line(Json(0.1)), "0.1");
  EXPECT_EQ(json_line(Json(std::nan(""))), "null");
  EXPECT_TRUE(parse_json("1e999").is_discarded());
}

TEST(Json, EqualNumbersMayHaveOtherTypes) {
  EXPECT_EQ(Json(1), Json(1u));
  EXPECT_EQ(Json(1), Json(1.0));
  EXPECT_FALSE(Json(-1) == Json(std::numeric_limits<std::uint64_t>::max()));
  EXPECT_FALSE(Json(1) == Json(true));
  EXPECT_FALSE(Json(0) == Json(nullptr));
  EXPECT_FALSE(Json("1") == Json(1));
  EXPECT_EQ(parse_json(R"({"a": [1, {"b": "x"}]})"), (Json{{"a", Json::array({1, {{"b", "x"}}})}}));
  EXPECT_FALSE(parse_json(R"({"a": 1, "b": 2})") == parse_json(R"({"b": 2, "a": 1})"));
}

TEST(Json, MembersKeepTheirOrder) {
  Json json = parse_json(R"({"z": 1, "a": 2, "z": 3})");
  EXPECT_EQ(json_line(json), R"({"z":3,"a":2})");
  json["m"]["inner"] = 4;
  json.erase("z");
  json.erase("not there");
  json.update({{"a", 5}, {"n", 6}});
  EXPECT_EQ(json_line(json), R"({"a":5,"m":{"inner":4},"n":6})");
  std::vector<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  EXPECT_THAT(keys, ElementsAre("a", "m", "n"));
}

TEST(Json, ReadsWhatMayBeMissing) {
  const Json json = parse_json(R"({"text": "x", "number": 2.5, "none": null})");
  EXPECT_EQ(json.text_of("text"), "x");
  EXPECT_EQ(json.text_of("number"), "");
  EXPECT_EQ(json.text_of("missing"), "");
  EXPECT_EQ(json.number_of("number"), 2.5);
  EXPECT_EQ(json.number_of("text"), std::nullopt);
  EXPECT_EQ(json.value("missing", 7), 7);
  EXPECT_EQ(json.value("text", "y"), "x");
  EXPECT_EQ(json.member("missing"), nullptr);
  EXPECT_TRUE(json.contains("none"));
  EXPECT_EQ(Json("no object").text_of("text"), "");
}

TEST(Json, WrongTypesAreErrors) {
  const Json json = parse_json(R"({"text": "x", "list": [1, 2]})");
  EXPECT_THROW(json.at("missing"), JsonError);
  EXPECT_THROW(json["missing"], JsonError);
  EXPECT_THROW(json["text"].get<int>(), JsonError);
  EXPECT_THROW(json["text"].get<bool>(), JsonError);
  EXPECT_THROW(json["list"].text(), JsonError);
  EXPECT_THROW(json["list"][2], JsonError);
  EXPECT_THROW(json["text"].get<std::vector<int>>(), JsonError);
  EXPECT_THROW(Json(1e300).get<int>(), JsonError);
  Json text = "x";
  EXPECT_THROW(text["key"] = 1, JsonError);
  EXPECT_THROW(text.push_back(1), JsonError);
  EXPECT_THAT(json["list"].get<std::vector<int>>(), ElementsAre(1, 2));
}

TEST(Json, TextThatIsNoJsonIsDiscarded) {
  for (const char* text : {"", "{", "[1,]", "{\"a\" 1}", "nul", "1 2", "'x'", "\"\xff\""}) {
    EXPECT_TRUE(parse_json(text).is_discarded()) << text;
  }
}

TEST(Json, DeepNestingIsRefused) {
  const auto nested = [](std::size_t levels) { return std::string(levels, '[') + std::string(levels, ']'); };
  EXPECT_EQ(json_line(parse_json(nested(100))), nested(100));
  EXPECT_TRUE(parse_json(nested(101)).is_discarded());
  EXPECT_TRUE(parse_json(nested(1'000'000)).is_discarded());
}

TEST(Json, BytesThatAreNotUtf8AreReplaced) {
  EXPECT_EQ(json_line(Json("a\xff")), "\"a\xef\xbf\xbd\"");
  EXPECT_EQ(json_line_ascii(Json("\xc3\xa9")), R"("\u00e9")");
  EXPECT_EQ(valid_utf8("a\xff\n"), "a\xef\xbf\xbd\n");
  EXPECT_EQ(json_text(Json{{"a", 1}}), "{\n  \"a\": 1\n}");
}

}  // namespace
}  // namespace roofwalk
