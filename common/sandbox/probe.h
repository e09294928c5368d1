// Can a box be made here? If not: why, and exactly what to change.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace roofwalk {

// What decides it, as plain values.
struct BoxFacts {
  std::string bubblewrap;                   // "bubblewrap 0.8.0"; empty: it is not installed
  std::optional<bool> works;                // a box could be made; absent: not tried
  std::string trouble;                      // bubblewrap's last line
  std::optional<long> user_namespaces;      // the most that one user may have
  std::optional<bool> namespaces_for_root;  // Debian's own switch
  std::optional<bool> apparmor_restricts;   // Ubuntu's
  std::string container;                    // "docker", "podman", "lxc", ...; empty: none
  bool is_root = false;
};

// Looks, and tries an empty box. Takes some 20 ms; changes nothing.
BoxFacts box_facts();

// "docker", "podman", "kubernetes", "lxc", ...; empty outside a container.
std::string container_around();

struct BoxProbe {
  bool works = false;
  std::string what;                 // one sentence
  std::vector<std::string> remedy;  // lines; one that starts with "$ " is to be typed. Empty where it works
};

BoxProbe judge_boxes(const BoxFacts& facts);

// Where bubblewrap ended without a box: what it said, why that is, what to do.
Error box_trouble(const std::string& log);

// kOk where a box can be made; else an Error of one line, whose advice has the commands too.
Status require_boxes();

// kOk where whoever runs in a box can get to a folder that is shown there: root gives its rights up before the box is
// made, and a folder above may be root's alone. `what` is what the Error calls it: "the CUDA toolkit".
Status require_reach(const std::filesystem::path& folder, const std::string& what);

}  // namespace roofwalk
