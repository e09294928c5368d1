#include "grader/cmd/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <utility>

#include "grader/cmd/session.h"
#include "grader/text/text.h"

namespace roofwalk {
namespace {

// Replaces CLI::Range, whose error messages differ in each release of CLI11.
CLI::Validator is_worker_count() {
  const int most = 256;
  const auto check = [most](std::string& typed) {
    int count = 0;
    const auto [end, problem] = std::from_chars(typed.data(), typed.data() + typed.size(), count);
    const bool is_number = problem == std::errc{} && end == typed.data() + typed.size();
    return is_number && count >= 1 && count <= most
               ? std::string{}
               : fmt::format("`{}` is not a whole number from 1 to {}", printable(typed), most);
  };
  return CLI::Validator(check, fmt::format("INT in [1 - {}]", most));
}

// The verbs for users: those with a group, because a hidden verb has none.
std::vector<std::string> names_of_verbs(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands({})) {
    if (!verb->get_group().empty()) names.push_back(verb->get_name());
  }
  return names;
}

Error unknown_verb(const CLI::App& app, const std::string& typed) {
  const auto verbs = names_of_verbs(app);
  const auto near = near_names(typed, verbs);
  return {.message = fmt::format("there is no verb `{}`", printable(typed)),
          .advice = near.empty() ? fmt::format("the verbs are: {}", fmt::join(verbs, ", "))
                                 : fmt::format("did you mean {}?", fmt::join(near, " or "))};
}

// CLI11's error, in one line.
Error misuse(const CLI::App& app, const CLI::ParseError& error) {
  const bool lacks_something = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  const std::string_view words = error.what();
  if (app.get_subcommands().empty()) {
    if (!app.remaining().empty()) return unknown_verb(app, app.remaining().front());
    if (lacks_something) {
      return {.message = "a verb is missing",
              .advice = "start with `./roofwalk next`; `./roofwalk --help` lists all verbs"};
    }
    return {.message = error.what(), .advice = "`./roofwalk --help` lists all verbs and options"};
  }
  const CLI::App* verb = app.get_subcommands().back();
  while (!verb->get_subcommands().empty()) verb = verb->get_subcommands().back();
  if (lacks_something && words.starts_with("name")) {  // the missing argument is `name` or `names`
    return {.message = fmt::format("`{}` needs the name of a chapter", verb->get_name()),
            .advice = "`./roofwalk list` shows them"};
  }
  if (lacks_something && words.starts_with("path")) {
    return {.message = fmt::format("`{}` needs a path", verb->get_name()),
            .advice = "a file, a folder or a zip of what was handed in"};
  }
  std::string path = verb->get_name();
  for (const CLI::App* above = verb->get_parent(); above != nullptr && above != &app; above = above->get_parent()) {
    path = above->get_name() + " " + path;
  }
  return {.message = printable(error.what()), .advice = fmt::format("`./roofwalk {} --help` lists its options", path)};
}

}  // namespace

Option& Option::required() {
  option_->required();
  return *this;
}

Option& Option::one_of(const std::vector<std::string>& values) {
  option_->check(CLI::IsMember(values));
  return *this;
}

Option& Option::worker_count() {
  option_->check(is_worker_count());
  return *this;
}

Option& Option::needs(const Option& other) {
  option_->needs(other.option_);
  return *this;
}

Option& Option::excludes(const std::vector<Option>& others) {
  for (const Option& other : others) option_->excludes(other.option_);
  return *this;
}

Option& Option::shows_default() {
  option_->capture_default_str();
  return *this;
}

Verb Verb::add_subcommand(const std::string& name, const std::string& help) {
  return Verb(app_->add_subcommand(name, help));
}

void Verb::require_subcommand() { app_->require_subcommand(1); }

void Verb::hide() { app_->group(""); }

template <class Value>
Option Verb::add_option(const std::string& names, Value& value, const std::string& help) {
  return Option(app_->add_option(names, value, help));
}
template Option Verb::add_option(const std::string&, int&, const std::string&);
template Option Verb::add_option(const std::string&, std::optional<int>&, const std::string&);
template Option Verb::add_option(const std::string&, std::uint64_t&, const std::string&);
template Option Verb::add_option(const std::string&, std::string&, const std::string&);
template Option Verb::add_option(const std::string&, std::vector<std::string>&, const std::string&);

Option Verb::add_option_function(const std::string& name, std::function<void(const std::string&)> take,
                                 const std::string& help) {
  return Option(app_->add_option_function<std::string>(name, take, help));
}

Option Verb::add_flag(const std::string& name, bool& value, const std::string& help) {
  return Option(app_->add_flag(name, value, help));
}

void Verb::callback(std::function<void()> action) { app_->callback(std::move(action)); }

CommandLine::CommandLine()
    : app_(std::make_unique<CLI::App>("Make CUDA kernels fast and watch each attempt walk across a roofline.",
                                      "roofwalk")) {
  app_->set_version_flag("--version", std::string("roofwalk ") + ROOFWALK_VERSION);
  app_->require_subcommand(1);
  app_->footer(
      "./roofwalk next says where to begin; ./roofwalk book makes a site of the book; ./roofwalk test proves that "
      "everything works.");
  app_->fallthrough();  // so that `run NAME --format json` and `--format json run NAME` are the same
}

CommandLine::~CommandLine() = default;

Verb CommandLine::program() { return Verb(app_.get()); }

std::string CommandLine::help(const std::string& verb) const {
  // app_->help() would show the help of the verb that is running, i.e. of `help` itself.
  if (verb.empty()) return app_->get_formatter()->make_help(app_.get(), app_->get_name(), CLI::AppFormatMode::Normal);
  for (const CLI::App* known : std::as_const(*app_).get_subcommands({})) {
    if (known->get_name() == verb) return known->help(app_->get_name());
  }
  throw Failure{unknown_verb(*app_, verb), kUsage};
}

bool CommandLine::has_verb(const std::string& name) const {
  const auto verbs = std::as_const(*app_).get_subcommands({});
  return std::any_of(verbs.begin(), verbs.end(), [&](const CLI::App* known) { return known->get_name() == name; });
}

std::optional<int> CommandLine::parse(int argc, char** argv) {
  for (CLI::App* verb : app_->get_subcommands({})) {
    verb->footer("Every verb takes --device, --seed, --threads and --format text|json as well: ./roofwalk --help.");
  }
  try {
    app_->parse(argc, argv);
  } catch (const CLI::Success& asked) {
    return app_->exit(asked);  // --help or --version was requested
  } catch (const CLI::ParseError& error) {
    throw Failure{misuse(*app_, error), kUsage};
  }
  return std::nullopt;
}

}  // namespace roofwalk
