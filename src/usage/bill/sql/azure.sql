-- The rows of gpulint-paid.csv out of Azure's cost export (amortised), by DuckDB:
--   { echo '# gpulint paid 1'; duckdb -csv < paid.sql; } > gpulint-paid.csv
-- Azure also exports FOCUS itself: `gpulint usage bill` reads that without a query. The actual export will not do: it has
-- reservations as purchases, and the hours that they cover cost nothing there.
WITH machines (name, machine, accelerator, gpus) AS (VALUES
{machines}
),
lines AS (
  SELECT *,
    lower(TRY_CAST(additionalInfo AS JSON)->>'$.ServiceType') AS type,
    TRY_CAST(CASE WHEN tags LIKE '{%' THEN tags ELSE '{' || tags || '}' END AS JSON) AS tagged,
    TRY_CAST(CASE WHEN date LIKE '__/__/____' THEN strptime(date, '%m/%d/%Y') ELSE date::TIMESTAMP END AS DATE) AS day
  FROM read_csv('azure/*.csv', all_varchar = true)
),
keyed AS (
  SELECT lines.*, machines.machine, machines.accelerator, machines.gpus, max(day) OVER () AS until,
    tagged->>'$."aks-managed-cluster-name"' AS cluster,
    tagged->>'$."aks-managed-poolName"' AS pool,
    nullif(regexp_extract(resourceId, '(?i)/(virtualMachineScaleSets|virtualMachines|onlineEndpoints|computes)/([^/]+)', 2), '') AS label,
    tagged->>'$.team' AS team,
    CASE WHEN unitOfMeasure ILIKE '%hour%' THEN CAST(quantity AS DECIMAL(38, 12)) END AS machine_hours,
    CASE chargeType WHEN 'Usage' THEN 'usage' WHEN 'UnusedReservation' THEN 'unused' WHEN 'UnusedSavingsPlan' THEN 'unused'
      WHEN 'Purchase' THEN 'purchase' WHEN 'Refund' THEN 'refund' WHEN 'Tax' THEN 'tax' ELSE 'adjustment' END AS charge,
    CASE pricingModel WHEN 'Spot' THEN 'spot' WHEN 'Reservation' THEN 'committed' WHEN 'SavingsPlan' THEN 'committed' WHEN 'OnDemand' THEN 'on_demand' END AS bought
  FROM lines JOIN machines ON machines.name = lines.type
),
safe AS (
  SELECT *,
    CASE WHEN pool IS NOT NULL THEN 'pool' WHEN label IS NOT NULL THEN 'name' WHEN team IS NOT NULL THEN 'tag' ELSE 'unmatched' END AS kind_of_key,
    CASE WHEN pool IS NOT NULL THEN coalesce(cluster || '/', '') || pool WHEN label IS NOT NULL THEN label
         WHEN team IS NOT NULL THEN 'team=' || team ELSE '' END AS whole_key
  FROM keyed
)
SELECT 'azure' AS provider,
  CASE WHEN regexp_matches(whole_key, '{hidden}') THEN 'unmatched' ELSE kind_of_key END AS key_kind,
  CASE WHEN regexp_matches(whole_key, '{hidden}') THEN '' ELSE whole_key END AS key,
  lower(coalesce(resourceLocation, '')) AS region, machine, accelerator, gpus, strftime(day, '%Y-%m') AS month, billingCurrency AS currency, charge,
  sum(CAST(costInBillingCurrency AS DECIMAL(38, 12))) AS paid,
  CASE WHEN count(*) = count(nullif(payGPrice, '')) THEN sum(CAST(CAST(payGPrice AS DOUBLE) * CAST(quantity AS DOUBLE) AS DECIMAL(38, 12))) END AS list,
  sum(machine_hours) FILTER (charge IN ('usage', 'unused')) AS hours,
  sum(machine_hours) FILTER (charge IN ('usage', 'unused') AND bought = 'on_demand') AS on_demand,
  sum(machine_hours) FILTER (charge IN ('usage', 'unused') AND bought = 'spot') AS spot,
  sum(machine_hours) FILTER (charge IN ('usage', 'unused') AND bought = 'committed') AS committed,
  CASE WHEN max(until) + 1 < date_trunc('month', max(day)) + INTERVAL 1 MONTH OR current_date - 5 < date_trunc('month', max(day)) + INTERVAL 1 MONTH THEN 1 END AS open,
  CASE WHEN max(until) + 1 < date_trunc('month', max(day)) + INTERVAL 1 MONTH THEN date_diff('day', date_trunc('month', max(day)), max(until) + 1) END AS billed_days,
  'sql-azure' AS source
FROM safe
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
ORDER BY ALL;
