// Keys and look-up of cells.
#include "annulus/eval/cells.h"

#include <nlohmann/json.hpp>
#include <span>

#include "annulus/base/checksum.h"

namespace annulus {

std::string cell_key(const std::map<std::string, std::string>& parts) {
  const std::string text = nlohmann::json(parts).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return sha256_hex(std::as_bytes(std::span(text)));
}

std::string cell_value(const CellStore& store, const std::string& key, const std::function<std::string()>& compute) {
  if (store.find) {
    if (auto found = store.find(key)) return *found;
  }
  std::string value = compute();
  if (store.keep) store.keep(key, value);
  return value;
}

}  // namespace annulus
