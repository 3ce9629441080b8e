mod fit_cases;
