// Functions and files must stay short enough to read at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "common/base/pattern.h"
#include "tests/tidy/repository.h"

namespace roofwalk::tidy {
namespace {

namespace fs = std::filesystem;

constexpr int kMostOfAFunction = 70, kMostOfASource = 500, kMostOfAHeader = 300;

// Returns the text with comments, literals and directives blanked; line breaks stay.
std::string code_of(std::string text) {
  const auto blank = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < std::min(end, text.size()); ++i) {
      if (text[i] != '\n') text[i] = ' ';
    }
  };
  const auto end_of = [&](const std::string& mark, std::size_t from) {
    const std::size_t at = text.find(mark, from);
    return at == std::string::npos ? text.size() : at + mark.size();
  };
  bool is_first = true;  // first on its line
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    std::size_t end = i;
    if (c == '\n') {
      is_first = true;
      continue;
    }
    if (text.compare(i, 2, "//") == 0) {
      end = std::min(text.find('\n', i), text.size());
    } else if (text.compare(i, 2, "/*") == 0) {
      end = end_of("*/", i);
    } else if (text.compare(i, 2, "R\"") == 0) {
      end = end_of(")" + text.substr(i + 2, text.find('(', i) - i - 2) + "\"", i);
    } else if (c == '"' || (c == '\'' && !(i > 0 && std::isxdigit(static_cast<unsigned char>(text[i - 1]))))) {
      end = i + 1;
      while (end < text.size() && text[end] != c) end += text[end] == '\\' ? 2 : 1;
      ++end;
    } else if (c == '#' && is_first) {
      end = text.find('\n', i);
      while (end != std::string::npos && text[end - 1] == '\\') end = text.find('\n', end + 1);
      end = std::min(end, text.size());
    }
    is_first = is_first && c == ' ';
    if (end == i) continue;
    blank(i, end);
    i = end - 1;
  }
  return text;
}

struct Function {
  std::string name;
  int line = 0, lines = 0;
};

// Finds the functions in a source. Classifies each pair of braces by the words before it: with parentheses, it is a
// function; a namespace or a class is searched for functions; anything else is data.
std::vector<Function> functions_in(const std::string& text) {
  static const Pattern kName(R"(([\w:~]+)\s*\()"), kScope(R"(\b(namespace|struct|class|union|extern)\b)"),
      kLabel(R"(^\s*(public|private|protected):)");
  const std::string code = code_of(text);
  const auto line_of = [&](std::size_t at) {
    return 1 + static_cast<int>(std::count(code.begin(), code.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
  };
  std::vector<Function> functions;
  std::size_t begin = 0;  // start of the words before a brace
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (code[i] == ';' || code[i] == '}') begin = i + 1;
    if (code[i] != '{') continue;
    for (std::optional<Pattern::Groups> label; (label = kLabel.search(code.substr(begin, i - begin)));) {
      begin += (*label)[0].size();
    }
    const std::size_t first = std::min(code.find_first_not_of(" \n", begin), i);
    const std::string words = code.substr(first, i - first);
    begin = i + 1;
    const auto name = kName.search(words);
    if (!name && kScope.search(words)) continue;
    int depth = 0;
    std::size_t end = i;
    for (; end < code.size(); ++end) {
      depth += code[end] == '{' ? 1 : code[end] == '}' ? -1 : 0;
      if (depth == 0) break;
    }
    if (name) functions.push_back({(*name)[1], line_of(first), line_of(end) - line_of(first) + 1});
    i = std::min(end, code.size() - 1);
    begin = i + 1;
  }
  return functions;
}

std::vector<fs::path> measured_files() {
  std::vector<fs::path> files;
  for (const char* folder : {"common", "grader"}) {
    for (const fs::path& file : files_below(folder)) {
      if (is_cpp(file)) files.push_back(file);
    }
  }
  return files;
}

TEST(Length, IsThatOfAFunctionFromItsFirstWordToItsLastBrace) {
  const auto functions = functions_in(R"sample(
#define BEGIN {
namespace a {
const char* kText = "{ (";  // {
constexpr int kData[] = {1,
                         2};
struct B {
 public:
  int c() const { return '{'; }
  int d = 0;
};
template <class T>
T Long::name(T a,
             int b) {
  if (a) {
    return R"({)";
  }
}
B::B(int x)
    : x_{x}, y_(x) {
}
}  // namespace a
)sample");
  std::vector<std::string> told;
  for (const Function& one : functions) {
    told.push_back(one.name + " " + std::to_string(one.line) + " " + std::to_string(one.lines));
  }
  EXPECT_THAT(told, testing::ElementsAre("c 9 1", "Long::name 12 7", "B::B 19 2", "y_ 20 2"));
}

TEST(Length, OfFunctionsIsAtMostSeventyLines) {
  std::size_t measured = 0;
  for (const fs::path& file : measured_files()) {
    for (const Function& function : functions_in(text_of(file))) {
      EXPECT_LE(function.lines, kMostOfAFunction) << file << ":" << function.line << " " << function.name;
      ++measured;
    }
  }
  EXPECT_GT(measured, 1000u);
}

TEST(Length, OfFilesIsAtMostFiveHundredLines) {
  for (const fs::path& file : measured_files()) {
    const std::string text = text_of(file);
    EXPECT_LE(std::count(text.begin(), text.end(), '\n'), file.extension() == ".h" ? kMostOfAHeader : kMostOfASource)
        << file;
  }
}

}  // namespace
}  // namespace roofwalk::tidy
