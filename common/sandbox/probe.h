// Finds out whether boxes can be created here; if not, why, and exactly what to change.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace roofwalk {

// The facts that decide whether boxes work, as plain values.
struct BoxFacts {
  std::string bubblewrap;                   // "bubblewrap 0.8.0"; empty: not installed
  std::optional<bool> works;                // whether a box could be created; nullopt: not tried
  std::string trouble;                      // bubblewrap's last line
  std::optional<long> user_namespaces;      // maximum per user
  std::optional<bool> namespaces_for_root;  // Debian's switch
  std::optional<bool> apparmor_restricts;   // Ubuntu's switch
  std::string container;                    // "docker", "podman", "lxc", ...; empty: none
  bool is_root = false;
};

// Collects the facts and tries an empty box. Takes about 20 ms; changes nothing.
BoxFacts box_facts();

// Returns the kind of container that this process is in: "docker", "podman", "kubernetes", "lxc", ...; empty: none.
std::string container_around();

struct BoxProbe {
  bool works = false;
  std::string what;                 // one sentence
  std::vector<std::string> remedy;  // lines; those starting with "$ " are commands. Empty if boxes work
};

BoxProbe judge_boxes(const BoxFacts& facts);

// Returns the Error after bubblewrap failed to create a box: its message, the cause, advice.
Error box_trouble(const std::string& log);

// Returns kOk if boxes work; otherwise an Error in one line, with commands in its advice.
Status require_boxes();

// Returns kOk if a program in a box can reach a folder that is mounted there. It cannot if only root has access to a
// parent folder, because root drops its privileges before creating the box. `what` names the folder in the Error: "the
// CUDA toolkit".
Status require_reach(const std::filesystem::path& folder, const std::string& what);

}  // namespace roofwalk
