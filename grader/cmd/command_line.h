// The command line, for use by the verbs. Only command_line.cpp includes CLI11, because its header would add eight
// seconds to the compile time of every verb's file.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace roofwalk {

// One option, flag or argument of a verb.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option& required();
  Option& one_of(const std::vector<std::string>& values);
  // A number of threads or parallel programs: 1 to 256.
  Option& worker_count();
  Option& needs(const Option& other);
  Option& excludes(const std::vector<Option>& others);
  Option& shows_default();  // the help shows the value that the variable has now as the default

 private:
  CLI::Option* option_;
};

// A verb, or the program itself. Copies are cheap and stand for the same verb, because CommandLine owns the objects
// behind them.
class Verb {
 public:
  explicit Verb(CLI::App* app) : app_(app) {}

  Verb add_subcommand(const std::string& name, const std::string& help);
  void require_subcommand();
  void hide();  // removes it from all lists of verbs

  // `names`: "name" for an argument, "--name" for an option. `value` must outlive the command line. Value is int,
  // std::optional<int>, std::uint64_t, std::string or std::vector<std::string>.
  template <class Value>
  Option add_option(const std::string& names, Value& value, const std::string& help);
  Option add_option_function(const std::string& name, std::function<void(const std::string&)> take,
                             const std::string& help);
  Option add_flag(const std::string& name, bool& value, const std::string& help);

  // Sets the verb's action. It runs if the user typed the verb, after the whole command line has been read.
  void callback(std::function<void()> action);

 private:
  CLI::App* app_;
};

// The program's whole command line.
class CommandLine {
 public:
  CommandLine();
  ~CommandLine();

  Verb program();
  // The output of `roofwalk --help` or `roofwalk VERB --help`. Throws a Failure if there is no such verb.
  std::string help(const std::string& verb) const;
  bool has_verb(const std::string& name) const;
  // Runs the callback of the verb in the command line. Returns an exit code if only --help or --version was
  // requested. Throws a Failure if the command line is wrong.
  std::optional<int> parse(int argc, char** argv);

 private:
  std::unique_ptr<CLI::App> app_;
};

}  // namespace roofwalk
