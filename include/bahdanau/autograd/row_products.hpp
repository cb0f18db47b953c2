// Products of a weight with rows of another, such as the embeddings of tokens: each is made once, and kept.
// Where the same rows come again and again, reading the weight anew for each costs more than keeping.
#pragma once

#include <algorithm>
#include <cstddef>
#include <list>
#include <span>
#include <vector>

#include <bahdanau/backend/packed_products.hpp>

namespace bahdanau {

/// y[r] = x[r] op(W) + b for rows r of x: x [rows, k], op(W) [k, n], b [n]; all among one model's weights.
template <Backend B>
struct RowProduct {
  using Scalar = typename B::Scalar;
  const Scalar* x = nullptr;
  std::size_t rows = 0;
  const Scalar* bias = nullptr;
  const Scalar* w = nullptr;
  std::size_t k = 0, n = 0;
  friend bool operator==(const RowProduct&, const RowProduct&) = default;

  /// Elements of all products together; more than this are not kept, lest a large vocabulary fill the memory.
  std::size_t size() const { return rows * n; }
  static constexpr std::size_t largest = std::size_t{1} << 24;
};

namespace detail {

/// Tables of products with weights that do not change. Not for several threads at once.
template <Backend B>
class RowProducts {
 public:
  using Scalar = typename B::Scalar;

  /// The table [rows, n], in which the rows `wanted` are there; `packed` is W.
  const Scalar* get(const RowProduct<B>& product, const Scalar* packed, std::span<const Index> wanted) {
    Table& table = find(product);
    missing_.clear();
    for (const Index row : wanted)
      if (!table.known[static_cast<std::size_t>(row)]) missing_.push_back(row);
    if (missing_.empty()) return table.numbers.data();
    std::sort(missing_.begin(), missing_.end());
    missing_.erase(std::unique(missing_.begin(), missing_.end()), missing_.end());
    make(table, packed);
    // Only now: memory may have run out before.
    for (const Index row : missing_) table.known[static_cast<std::size_t>(row)] = 1;
    table.made += missing_.size();
    return table.numbers.data();
  }

  /// What the products that were made take; memory that nobody has written to takes none.
  std::size_t bytes() const {
    std::size_t total = (x_.size() + y_.size()) * sizeof(Scalar);
    for (const Table& table : tables_) total += table.made * table.product.n * sizeof(Scalar);
    return total;
  }

 private:
  using Numbers = typename B::template Storage<Scalar>;
  struct Table {
    RowProduct<B> product;
    Numbers numbers;  // [rows, n]
    std::vector<char> known;
    std::size_t made = 0;  // rows that are known
  };

  Table& find(const RowProduct<B>& product) {
    for (Table& table : tables_)
      if (table.product == product) return table;
    return tables_.emplace_back(Table{product, Numbers(product.size()), std::vector<char>(product.rows, 0)});
  }

  void make(Table& table, const Scalar* packed) {
    const auto& [x, rows, bias, w, k, n] = table.product;
    if (x_.size() < missing_.size() * k) x_ = Numbers(missing_.size() * k);
    if (y_.size() < missing_.size() * n) y_ = Numbers(missing_.size() * n);
    const auto place = [&](std::size_t i) { return static_cast<std::size_t>(missing_[i]); };
    for (std::size_t i = 0; i < missing_.size(); ++i) B::copy(x + place(i) * k, k, x_.data() + i * k);
    PackedProducts<B>::multiply(missing_.size(), n, k, x_.data(), k, packed, bias, 0, y_.data(), n);
    for (std::size_t i = 0; i < missing_.size(); ++i)
      B::copy(y_.data() + i * n, n, table.numbers.data() + place(i) * n);
  }

  std::list<Table> tables_;  // a list: what was given stays where it is
  std::vector<Index> missing_;
  Numbers x_{0}, y_{0};
};

}  // namespace detail
}  // namespace bahdanau
