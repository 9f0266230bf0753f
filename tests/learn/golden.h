// Reads the golden fixtures (safetensors files of arrays) into doubles.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace annulus {

class Golden {
 public:
  explicit Golden(const std::string& name) {
    std::ifstream file(std::string(ANNULUS_TEST_DATA) + "/golden/" + name + ".safetensors", std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    if (bytes.size() < 8) throw std::runtime_error("golden fixture " + name + " is missing");
    std::uint64_t header_size = 0;
    std::memcpy(&header_size, bytes.data(), 8);
    const auto header = nlohmann::json::parse(bytes.substr(8, header_size));
    for (const auto& [key, entry] : header.items()) {
      const std::size_t begin = 8 + header_size + entry["data_offsets"][0].get<std::size_t>();
      const std::size_t size =
          entry["data_offsets"][1].get<std::size_t>() - entry["data_offsets"][0].get<std::size_t>();
      arrays_[key] = widen(entry["dtype"], bytes.data() + begin, size);
    }
  }

  const std::vector<double>& operator[](const std::string& key) const { return arrays_.at(key); }
  double number(const std::string& key) const { return arrays_.at(key).at(0); }
  std::size_t count(const std::string& key) const { return static_cast<std::size_t>(number(key)); }

 private:
  template <class T>
  static std::vector<double> read(const char* bytes, std::size_t size) {
    std::vector<T> values(size / sizeof(T));
    std::memcpy(values.data(), bytes, size);
    std::vector<double> result;
    for (const T value : values) result.push_back(static_cast<double>(value));
    return result;
  }
  static std::vector<double> widen(const std::string& type, const char* bytes, std::size_t size) {
    if (type == "F64") return read<double>(bytes, size);
    if (type == "F32") return read<float>(bytes, size);
    return read<std::int64_t>(bytes, size);
  }

  std::map<std::string, std::vector<double>> arrays_;
};

}  // namespace annulus
