// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SQLite behind RAII: one connection, its prepared statements, transactions that roll back unless committed.
#pragma once

#include "smelt/base/bytes.hpp"
#include "smelt/base/digest.hpp"

#include <concepts>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace smelt::cache {

/// A row as a struct: columns() ties its members in the order of the SELECT.
template <class Row>
concept HasColumns = requires(Row row) { row.columns(); };

/// A use of a prepared statement; reset when it goes. Bound blobs and text are borrowed until then. SQL knows signed
/// integers only: the one place where they become our unsigned ones, and the other way round, is here. What SQLite
/// answers is data: a flipped bit of its file makes another row, type or size, and no error.
class Statement {
 public:
  Statement(sqlite3* database, sqlite3_stmt* statement) : database_(database), statement_(statement) {}
  ~Statement();
  Statement(Statement&& other) noexcept : database_(other.database_), statement_(other.statement_) {
    other.statement_ = nullptr;
  }
  Statement& operator=(Statement&&) = delete;

  /// Binds ?1, ?2, ... in order: integers, Digest, Checksum, ByteView, text.
  template <class... T>
  Statement& bind(const T&... values) {
    int at = 0;
    (put(++at, values), ...);
    return *this;
  }
  Result<bool> step();  ///< true: a row; false: done
  Result<void> run();   ///< to the end
  /// The columns of the row that step() found, from the first on. False: a blob has not the size that its type wants.
  template <class... T>
  bool read(T&... columns) const {
    int at = 0;
    return (get(at++, columns) && ...);
  }

  /// The first row, if there is one. Row: a struct with columns(), or the type of the only column. A row that is not of
  /// these types is damage.
  template <class Row>
  Result<std::optional<Row>> first() {
    SMELT_TRY(const bool found, step());
    std::optional<Row> row;
    if (found && !read_row(row.emplace())) return unreadable_row();
    return row;
  }
  /// All rows. Those that cannot be read are counted, or else are damage.
  template <class Row>
  Result<std::vector<Row>> all(size_t* unreadable = nullptr) {
    std::vector<Row> rows;
    for (;;) {
      SMELT_TRY(const bool found, step());
      if (!found) return rows;
      if (Row row; read_row(row))
        rows.push_back(std::move(row));
      else if (unreadable)
        ++*unreadable;
      else
        return unreadable_row();
    }
  }
  /// The rows that can be read, until the database says that it is damaged.
  template <class Row>
  void salvage(std::vector<Row>& rows) {
    for (auto found = step(); found && *found; found = step())
      if (Row row; read_row(row)) rows.push_back(std::move(row));
  }
  /// The only column of the only row; 0 when there is none.
  Result<uint64_t> number() {
    SMELT_TRY(const auto value, first<uint64_t>());
    return value.value_or(0);
  }

 private:
  tl::unexpected<Error> unreadable_row() const;
  template <std::integral T>
  void put(int at, T value) {
    put_integer(at, static_cast<int64_t>(value));
  }
  void put(int at, ByteView bytes);
  void put(int at, std::string_view text);
  void put(int at, const Digest& digest) { put(at, ByteView(digest.bytes)); }
  template <size_t N>
  void put(int at, const std::array<std::byte, N>& bytes) {
    put(at, ByteView(bytes));
  }
  void put_integer(int at, int64_t value);

  template <std::integral T>
  bool get(int column, T& value) const {
    using Number = std::conditional_t<std::same_as<T, bool>, uint8_t, T>;
    const auto found = integer(column);
    if (!found || !std::in_range<Number>(*found)) return false;
    value = static_cast<T>(*found);
    return true;
  }
  template <size_t N>
  bool get(int column, std::array<std::byte, N>& bytes) const {
    const ByteView found = blob(column);
    if (found.size() != N) return false;
    std::copy(found.begin(), found.end(), bytes.begin());
    return true;
  }
  bool get(int column, Digest& digest) const { return get(column, digest.bytes); }
  bool get(int column, std::string& text) const {
    text = as_text(blob(column));
    return true;
  }
  bool get(int column, Bytes& bytes) const {
    bytes = to_bytes(blob(column));
    return true;
  }
  template <class Row>
  bool read_row(Row& row) const {
    if constexpr (HasColumns<Row>)
      return std::apply([&](auto&... columns) { return read(columns...); }, row.columns());
    else
      return read(row);
  }
  std::optional<int64_t> integer(int column) const;  // none: the column holds something else
  ByteView blob(int column) const;                   // valid until the next step

  sqlite3* database_;
  sqlite3_stmt* statement_;
};

/// A connection. Used by one thread at a time (the store's mutex).
class Database {
 public:
  Database() = default;
  ~Database() { close(); }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// Opens and brings the schema up to date. Errors: store_newer; store_corrupt (not ours, damaged); io.
  Result<void> open(const std::filesystem::path& path, bool read_only, bool durable);
  void close();
  bool is_open() const { return database_ != nullptr; }
  /// Whether the file at the path is another one now, or none.
  bool moved() const;
  int version() const { return version_; }
  struct Size {
    uint64_t used = 0, unused = 0;  ///< bytes of pages
  };
  Result<Size> size();
  /// Whether give_back() has an effect. It has none on a database that an older smelt made and that was never vacuumed.
  bool gives_back() const { return gives_back_; }
  /// Moves so many pages from the end of the file to unused ones, so that a checkpoint makes the file shorter.
  Result<void> give_back(uint64_t pages);
  /// Writes the file anew, without unused pages.
  Result<void> vacuum();
  /// `sql` is a literal: the statement is kept under its address. Not to be used again while in use.
  Result<Statement> prepare(const char* sql);
  /// Runs a statement that has no rows worth reading.
  template <class... T>
  Result<void> run(const char* sql, const T&... values) {
    SMELT_TRY(auto statement, prepare(sql));
    return statement.bind(values...).run();
  }
  /// Runs one that has.
  template <class Row, class... T>
  Result<std::optional<Row>> first(const char* sql, const T&... values) {
    SMELT_TRY(auto statement, prepare(sql));
    return statement.bind(values...).template first<Row>();
  }
  template <class Row, class... T>
  Result<std::vector<Row>> all(const char* sql, const T&... values) {
    SMELT_TRY(auto statement, prepare(sql));
    return statement.bind(values...).template all<Row>();
  }
  template <class... T>
  Result<uint64_t> number(const char* sql, const T&... values) {
    SMELT_TRY(auto statement, prepare(sql));
    return statement.bind(values...).number();
  }
  template <class... T>
  Result<bool> any(const char* sql, const T&... values) {
    SMELT_TRY(auto statement, prepare(sql));
    return statement.bind(values...).step();
  }
  Result<void> execute(const char* sql);
  int64_t last_row() const;

 private:
  Result<void> migrate();
  Result<void> look_whether_it_gives_back();
  sqlite3* database_ = nullptr;
  int version_ = 0;
  bool gives_back_ = false;
  std::map<const char*, sqlite3_stmt*> prepared_;  // by address: each call site has its own literal
};

/// Everything in between is one: BEGIN, then COMMIT at commit(); rolls back otherwise.
class Transaction {
 public:
  enum class Kind { read, write };
  static Result<Transaction> begin(Database& database, Kind kind = Kind::write);
  ~Transaction();
  Transaction(Transaction&& other) noexcept : database_(other.database_) { other.database_ = nullptr; }
  Transaction& operator=(Transaction&&) = delete;
  Result<void> commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}
  Database* database_;
};

}  // namespace smelt::cache
