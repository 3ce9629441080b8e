// Asks the search of a built book as its page does: the index that mdBook wrote, by the elasticlunr that mdBook ships.
//
//   node search.js BOOK QUESTIONS.tsv
//
// A line of QUESTIONS.tsv is a question, a tab, and the page that answers it. That page must be among the first three that are found.
"use strict";
const fs = require("fs");
const path = require("path");

const [book, questions] = process.argv.slice(2);
const named = (start, end) => {
  const found = fs.readdirSync(book).filter((it) => it.startsWith(start) && it.endsWith(end));
  if (found.length !== 1) throw new Error(`${start}*${end}: ${found.length} files`);
  return path.join(book, found[0]);
};

const window = { search: {} };
new Function("window", fs.readFileSync(named("searchindex", ".js"), "utf8"))(window);
const { search } = window;
if (!search || !search.index) throw new Error("the index of the search has another shape");
const elasticlunr = require(named("elasticlunr", ".js"));
const index = elasticlunr.Index.load(search.index);

let wrong = 0;
let asked = 0;
for (const line of fs.readFileSync(questions, "utf8").split("\n")) {
  if (!line || line.startsWith("#")) continue;
  const [question, page] = line.split("\t");
  asked += 1;
  const results = index.search(question, search.search_options);
  const pages = [];
  for (const { ref } of results) {
    const found = search.doc_urls[ref].split("#")[0];
    if (!pages.includes(found)) pages.push(found);
  }
  if (!pages.slice(0, 3).includes(page)) {
    wrong += 1;
    console.log(`${question}: ${page} is at place ${pages.indexOf(page) + 1} of ${pages.length}; first are ${pages.slice(0, 5).join(", ")}`);
  }
}
console.log(`${asked - wrong} of ${asked} questions find their page`);
process.exit(wrong ? 1 : 0);
