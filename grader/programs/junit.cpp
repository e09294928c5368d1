#include "grader/programs/junit.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "grader/text/markup.h"
#include "grader/text/text.h"

namespace roofwalk {
namespace {

// In an attribute. XML forbids most control characters, even escaped.
std::string attribute(const std::string& text) { return escaped(printable(text)); }

std::string testcase_of(const Judged& judged) {
  const std::string head =
      fmt::format("    <testcase name=\"{}\" classname=\"{}\" time=\"0\"", attribute(judged.condition),
                  attribute("roofwalk." + (judged.kernel.empty() ? "program" : judged.kernel)));
  switch (judged.outcome) {
    case Judged::Outcome::passed:
      break;
    case Judged::Outcome::failed:
      return fmt::format("{}>\n      <failure message=\"{}\" type=\"condition\"/>\n    </testcase>\n", head,
                         attribute(judged.what));
    case Judged::Outcome::not_judged:
      return fmt::format("{}>\n      <skipped message=\"{}\"/>\n    </testcase>\n", head, attribute(judged.what));
  }
  return head + "/>\n";
}

}  // namespace

std::string junit_text(const std::string& command, const std::vector<Judged>& judged,
                       const std::vector<std::string>& faults) {
  std::vector<Judged> cases = judged;
  cases.push_back({"", "no fault", faults.empty() ? Judged::Outcome::passed : Judged::Outcome::failed,
                   fmt::format("{}", fmt::join(faults, "; "))});
  const auto count = [&](Judged::Outcome outcome) {
    return std::count_if(cases.begin(), cases.end(), [&](const Judged& each) { return each.outcome == outcome; });
  };
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"{0}\" failures=\"{1}\" errors=\"0\" "
      "time=\"0\">\n  <testsuite name=\"{3}\" package=\"roofwalk\" id=\"0\" timestamp=\"1970-01-01T00:00:00\" "
      "hostname=\"localhost\" tests=\"{0}\" failures=\"{1}\" errors=\"0\" skipped=\"{2}\" time=\"0\">\n",
      cases.size(), count(Judged::Outcome::failed), count(Judged::Outcome::not_judged), attribute(command));
  for (const Judged& each : cases) text += testcase_of(each);
  return text + "  </testsuite>\n</testsuites>\n";
}

}  // namespace roofwalk
