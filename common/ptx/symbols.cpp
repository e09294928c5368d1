#include "common/ptx/symbols.h"

namespace roofwalk::ptx {

bool SymbolTable::declare(std::string_view name, Symbol symbol) {
  const auto [place, is_new] = visible_.try_emplace(name, -1);
  const std::size_t scope = scopes_.size();
  if (!is_new && entries_[static_cast<std::size_t>(place->second)].scope == scope) return false;
  entries_.push_back({std::move(symbol), scope, place->second});
  place->second = static_cast<int>(entries_.size()) - 1;
  scopes_.back().push_back(name);
  return true;
}

void SymbolTable::close_scope() {
  // The innermost scope's entries are the last ones.
  for (const std::string_view name : scopes_.back()) {
    const auto place = visible_.find(name);
    const int shadowed = entries_[static_cast<std::size_t>(place->second)].shadowed;
    if (shadowed < 0) {
      visible_.erase(place);
    } else {
      place->second = shadowed;
    }
  }
  entries_.resize(entries_.size() - scopes_.back().size());
  scopes_.pop_back();
}

const Symbol* SymbolTable::find(std::string_view name) const {
  const auto place = visible_.find(name);
  return place == visible_.end() ? nullptr : &entries_[static_cast<std::size_t>(place->second)].symbol;
}

}  // namespace roofwalk::ptx
