#!/usr/bin/python3
"""The page that simhash_explore makes, in chromium: it draws what the functions return,
moves with the slider, copies statements that run, and what is in a text stays text.

script/soak explore starts the server.  The directory named is that of the programs.
"""

import os
import re
import subprocess
import sys
import unittest

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

BINDIR = sys.argv.pop()
CLONE = os.path.dirname(__file__) + "/../../script/explore"
PAGE = os.environ["HOME"] + "/page.html"

# 60 families of texts of 60 words, of which 0 to 5 differ: of some pairs it depends on
# k whether they are found, and on the words whether that is right.
SETUP = r"""
CREATE SCHEMA "far away";
CREATE EXTENSION simhash SCHEMA "far away";
SET search_path = public, "far away";
CREATE TABLE docs (id int PRIMARY KEY, body text, fp simhash64 GENERATED ALWAYS AS (minhash(body)) STORED);
INSERT INTO docs (id, body)
SELECT 10 * family + copy, string_agg(
    substr(md5(family || ' ' || word || CASE WHEN word % 11 = 5 AND word < 11 * copy THEN ' ' || copy ELSE '' END),
        1, 6), ' ' ORDER BY word)
FROM generate_series(1, 60) family, generate_series(0, 5) copy, generate_series(1, 60) word
GROUP BY family, copy;
CREATE TABLE batch (LIKE docs INCLUDING GENERATED);
CREATE TABLE wide AS SELECT 'it''s ' || id AS "Key", minhash_128(body) AS "the fp", body AS "Body" FROM docs;
CREATE TABLE nulls AS SELECT NULLIF(id, 10) AS id, NULLIF(fp, minhash('')) AS fp, body FROM docs;
CREATE TABLE hostile AS SELECT id, minhash(body) AS fp, body FROM (
    SELECT n AS id, E'</script><script>window.hacked = 1</script><img src=x onerror="window.hacked = 1"> '
        '<!--<script> \u2028 &lt;b&gt; \\u003cb> $& @nonce@ @data@ ' || body || ' ' || n AS body
    FROM docs, generate_series(1, 2) n WHERE id = 10) s;
"""


def sql(statements):
    return subprocess.run([BINDIR + "/psql", "-XqAt", "-v", "ON_ERROR_STOP=1"], text=True, check=False, stdout=-1,
                          stderr=subprocess.STDOUT,
                          input='SET search_path = public, "far away";' + statements).stdout.strip()


def make_page(*arguments, program=BINDIR + "/simhash_explore"):
    with open(PAGE, "w", encoding="utf8") as page:
        return subprocess.run([program, *arguments], stdout=page, stderr=-1, text=True, check=False)


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        assert sql(SETUP) == ""
        options = webdriver.ChromeOptions()
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                         "--lang=en", "--remote-debugging-pipe"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        cls.browser = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
        cls.addClassCleanup(cls.browser.quit)

    def open(self, *arguments):
        made = make_page(*arguments)
        self.assertEqual(re.sub("^.*NOTICE:  simhash_.*\n", "", made.stderr, flags=re.M), "")
        self.browser.get("file://" + PAGE)

    def tearDown(self):
        self.assertEqual(self.browser.get_log("browser"), [])

    def run_js(self, script, *arguments):
        return self.browser.execute_script("return " + script, *arguments)

    def shown(self, *names):
        return self.run_js("arguments[0].map((name) => document.getElementById(name).textContent)", names)

    def send_keys(self, selector, keys):
        self.browser.find_element(By.CSS_SELECTOR, selector).send_keys(keys)

    def statements(self):
        return dict(self.run_js("[...document.querySelectorAll('.statement')].map("
                                "(box) => [box.querySelector('h3').textContent, box.querySelector('pre').textContent])"))

    def test_draws_and_moves(self):
        query = "SELECT id, fp, body FROM docs"
        rows = [row.split("|") for row in sql(f"SELECT * FROM simhash_audit('{query}')").split("\n")]
        self.open(query)
        self.assertEqual(self.shown("chosen"), [next(row[0] for row in rows if float(row[10]) >= 0.99)])
        self.assertEqual(self.run_js("document.querySelectorAll('#curves .dot').length"), 2 * len(rows))
        self.send_keys("#k", Keys.HOME)
        for k, row in enumerate(rows):
            self.assertEqual(self.shown("chosen", "statements-k", "pairs", "precision", "related", "recall"),
                             [str(k)] * 2 + [f"{int(row[1]):,}"] +
                             [f"{100 * float(x) + 1e-9:.1f}\xa0%" for x in (row[2], row[5], row[8])])
            truth = sql(f"""SELECT count(*) FILTER (WHERE alike AND distance > {k}),
                count(*) FILTER (WHERE NOT alike AND distance <= {k}), count(*) FILTER (WHERE alike AND distance <= {k})
                FROM (SELECT text_jaccard(a.body, b.body, words => 3) >= 0.8 AS alike, simhash_distance(a.fp, b.fp) AS distance
                    FROM docs a JOIN docs b ON a.id / 10 = b.id / 10 AND a.id < b.id) s""")
            self.assertEqual("|".join(re.search(r"\d+$", text)[0] for text in self.shown("miss", "false", "right")), truth)
            self.send_keys("#k", Keys.RIGHT)
        self.browser.set_window_size(500, 800)
        self.assertLessEqual(*self.run_js("[document.documentElement.scrollWidth, innerWidth]"))

    def test_pairs(self):
        self.open("SELECT id, fp, body FROM docs")
        self.send_keys("#k", Keys.HOME + 3 * Keys.RIGHT)
        kinds = []
        for i in range(int(self.shown("place")[0].split()[-1])):
            what, id_a, id_b, a, b = self.shown("what", "head-a", "head-b", "text-a", "text-b")
            kinds.append(what.split(":")[0])
            self.assertEqual(sql(f"SELECT body FROM docs WHERE '{id_a} {id_b}' ~ ('id ' || id || '\\M') ORDER BY id"), f"{a}\n{b}")
            self.assertIn(f"Distance {sql(f'''SELECT simhash_distance(minhash('{a}'), minhash('{b}'))''')},", what)
            marks = self.run_js("[...document.querySelectorAll('mark')].map((mark) => mark.textContent)")
            self.assertEqual(sorted(marks), sorted(set(a.split()) ^ set(b.split())))
            self.send_keys("body", "n")
        self.assertEqual(kinds, sorted(kinds, key=["Missed", "Not alike", "Found"].index))
        self.assertEqual(len(set(kinds)), 3)

    def test_copies(self):
        self.open("SELECT id, fp, body FROM docs")
        self.browser.execute_cdp_cmd("Browser.grantPermissions", {"permissions": ["clipboardReadWrite"]})
        for i, statement in enumerate(self.statements().values()):
            self.browser.find_elements(By.CSS_SELECTOR, ".statement button")[i].click()
            self.assertEqual(
                self.browser.execute_async_script("navigator.clipboard.readText().then(arguments[0])"), statement)

    def test_statements(self):
        for arguments in (["SELECT id, fp, body FROM docs"], ["-v", "chars=4", "SELECT id, fp, body FROM docs WHERE true;"],
                          ["SELECT \"Key\", \"the fp\", \"Body\" FROM wide"], ["SELECT id, fp, body FROM nulls"]):
            self.open(*arguments)
            for distance in (4, 8, 16):
                self.send_keys("#k", Keys.HOME + distance * Keys.RIGHT)
                for name, statement in self.statements().items():
                    out = sql(f"BEGIN; {statement}; SELECT 'it runs'")
                    if name == "Constraint":
                        self.assertIn("could not create exclusion constraint", out)
                    elif "wide" not in statement or name != "Insert":
                        self.assertTrue(out.endswith("it runs"), out)

    def test_hostile(self):
        self.open("SELECT id, fp, body /* </script><b>\u2028&amp; */ FROM hostile -- ;")
        self.assertIn("</script><b>\u2028&amp;", self.shown("facts")[0])
        self.assertEqual(self.shown("text-a", "text-b"), sql("SELECT body FROM hostile ORDER BY id").split("\n"))
        self.assertEqual(self.run_js("[window.hacked, document.images.length, document.scripts.length]"), [None, 0, 2])

    def test_program(self):
        pages = []
        for program in (BINDIR + "/simhash_explore", CLONE):
            make_page("SELECT id, fp, body FROM docs", program=program)
            with open(PAGE, encoding="utf8") as page:
                pages.append(re.sub('"made" : "[^"]*"|nonce[-=\'"]*[0-9a-f]{32}', "", page.read()))
        self.assertEqual(*pages)
        for *arguments, message in (
                ["SELECT nothing FROM docs", 'column "nothing" does not exist'],
                ["DELETE FROM docs RETURNING id, fp, body", "ERROR"],
                ["-v", "threshold=2", "SELECT id, fp, body FROM docs", "threshold"],
                ["-c", "SELECT 1", "SELECT id, fp, body FROM docs", "options"],
                ["-d", "template1", "SELECT 1, 2, 3", "the extension simhash is not in database template1"]):
            made = make_page(*arguments)
            self.assertNotEqual(made.returncode, 0)
            self.assertIn(message, made.stderr)
            self.assertEqual(os.path.getsize(PAGE), 0)


unittest.main()
