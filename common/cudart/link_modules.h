// Links the modules of a program that was built with -rdc=true: functions and variables of one file that others use.
#pragma once

#include <vector>

#include "common/base/result.h"
#include "common/ptx/module.h"

namespace roofwalk::cudart {

// Adds a number to every PTX line of a module, so that the lines of several modules differ.
void shift_lines(ptx::Module& module, int lines);

// One module with the code and the variables of all, in their order. Of a weak symbol the first definition is taken.
// What is local to a module stays so: its name gets a number where another module has it, too. Error: a symbol that two
// modules define. One that none defines stays extern.
Result<ptx::Module> link_modules(std::vector<ptx::Module> modules);

}  // namespace roofwalk::cudart
