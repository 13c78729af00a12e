#!/usr/bin/python3
"""A headless chromium for t/Browser.pm, which keeps its files in the directory named.

Each line of standard input is a list in JSON: a method of selenium's driver, or click
or send_keys and the selector of an element, and arguments.  What the method returns
is a line of standard output.  Whatever fails ends this, and so does the end of input.
"""

import json
import sys

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By

options = webdriver.ChromeOptions()
for argument in ("--headless=new", "--no-sandbox", "--disable-gpu",
                 "--disable-dev-shm-usage", "--disable-crash-reporter",
                 "--no-first-run", "--lang=en", "--remote-debugging-pipe",
                 f"--user-data-dir={sys.argv[1]}/profile"):
    options.add_argument(argument)
options.set_capability("goog:loggingPrefs",
                       {"browser": "ALL", "performance": "ALL"})
with webdriver.Chrome(options=options,
                      service=Service("/usr/bin/chromedriver")) as driver:
    for line in sys.stdin:
        method, *arguments = json.loads(line)
        of = driver
        if method in ("click", "send_keys"):
            of = driver.find_element(By.CSS_SELECTOR, arguments.pop(0))
        print(json.dumps(getattr(of, method)(*arguments)), flush=True)
