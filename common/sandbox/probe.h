// Finds out whether boxes can be created here; if not, why, and exactly what to change.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace roofwalk {

// The facts that decide it, as plain values.
struct BoxFacts {
  std::string bubblewrap;                   // "bubblewrap 0.8.0"; empty: not installed
  std::optional<bool> works;                // whether a box could be created; absent: not tried
  std::string trouble;                      // bubblewrap's last line
  std::optional<long> user_namespaces;      // maximum per user
  std::optional<bool> namespaces_for_root;  // Debian's switch
  std::optional<bool> apparmor_restricts;   // Ubuntu's switch
  std::string container;                    // "docker", "podman", "lxc", ...; empty: none
  bool is_root = false;
};

// Looks around and tries an empty box. Takes about 20 ms; changes nothing.
BoxFacts box_facts();

// "docker", "podman", "kubernetes", "lxc", ...; empty outside a container.
std::string container_around();

struct BoxProbe {
  bool works = false;
  std::string what;                 // one sentence
  std::vector<std::string> remedy;  // lines; those starting with "$ " are commands. Empty if boxes work
};

BoxProbe judge_boxes(const BoxFacts& facts);

// Error for when bubblewrap failed to create a box: its message, the cause, what to do.
Error box_trouble(const std::string& log);

// kOk if boxes work; otherwise an Error in one line, with commands in its advice.
Status require_boxes();

// kOk if a program in a box can reach a folder that is mounted there: root drops privileges before creating the box,
// and a parent folder may be accessible to root only. `what` names the folder in the Error: "the CUDA toolkit".
Status require_reach(const std::filesystem::path& folder, const std::string& what);

}  // namespace roofwalk
