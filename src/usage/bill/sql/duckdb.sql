-- The rows of gpulint-paid.csv out of a bill in the columns of FOCUS 1.1 to 1.3, by DuckDB:
--   gpulint usage bill --sql duckdb > paid.sql    (then name your files where it says read_parquet)
--   { echo '# gpulint paid 1'; duckdb -csv < paid.sql; } > gpulint-paid.csv
-- Of FOCUS 1.3 read ServiceProviderName for ProviderName where that is what you have.
WITH machines (provider, name, machine, accelerator, gpus) AS (VALUES
{machines}
),
chips (words, accelerator) AS (VALUES
{chips}
),
focus AS (
  SELECT *,
    CASE WHEN ProviderName ILIKE 'aws%' OR ProviderName ILIKE 'amazon%' THEN 'aws'
         WHEN ProviderName ILIKE 'microsoft%' OR ProviderName ILIKE 'azure%' THEN 'azure'
         WHEN ProviderName ILIKE 'google%' THEN 'gcp'
         WHEN ProviderName ILIKE 'oracle%' THEN 'oci'
         ELSE lower(split_part(ProviderName, ' ', 1)) END AS provider,
    TRY_CAST(SkuPriceDetails AS JSON) AS details,
    TRY_CAST(Tags AS JSON) AS tagged,
    lower(coalesce(ChargeDescription, '')) AS said
  FROM read_parquet('focus/*.parquet')
),
named AS (
  SELECT *,
    lower(coalesce(details->>'$.InstanceType', details->>'$.x_InstanceType', details->>'$.ServiceType',
      nullif(regexp_extract(said, '{names}', 2), ''))) AS name,
    provider = 'gcp' AND regexp_matches(said, '\b(gpu|tpu)\b') AS is_chip,
    provider = 'gcp' AND regexp_matches(said, '\b(core|ram|cpu|memory)\b') AS is_part,
    max(ChargePeriodEnd) FILTER (ChargeCategory = 'Usage') OVER (PARTITION BY provider) AS until
  FROM focus
),
found AS (
  SELECT named.*, machines.machine,
    coalesce(machines.accelerator, (SELECT chips.accelerator FROM chips WHERE is_chip AND contains(said, chips.words) ORDER BY length(chips.words) DESC LIMIT 1)) AS accelerator,
    CASE WHEN machines.gpus IS NOT NULL THEN machines.gpus WHEN is_chip THEN 1 END AS gpus
  FROM named LEFT JOIN machines ON machines.provider = named.provider AND machines.name = named.name
  WHERE (machines.name IS NOT NULL OR is_chip) AND (named.provider <> 'gcp' OR is_chip OR is_part)
),
keyed AS (
  SELECT *,
    coalesce(tagged->>'$."aws:eks:cluster-name"', tagged->>'$."eks:cluster-name"', tagged->>'$."goog-k8s-cluster-name"') AS cluster,
    coalesce(tagged->>'$."aws:eks:namespace"', tagged->>'$."goog-k8s-namespace"') AS namespace,
    regexp_extract(coalesce(tagged->>'$."aws:eks:workload-type"', tagged->>'$."goog-k8s-workload-type"', ''), '[^/-]*$') AS kind,
    coalesce(tagged->>'$."aws:eks:workload-name"', tagged->>'$."goog-k8s-workload-name"') AS workload,
    coalesce(tagged->>'$."karpenter.sh/nodepool"', tagged->>'$."eks:nodegroup-name"', tagged->>'$."alpha.eksctl.io/nodegroup-name"',
      tagged->>'$."goog-k8s-node-pool-name"', tagged->>'$."aks-managed-poolName"', tagged->>'$."aws:autoscaling:groupName"') AS pool,
    coalesce(tagged->>'$.Name', tagged->>'$."user:Name"', CASE WHEN ResourceName <> ResourceId THEN regexp_extract(ResourceName, '[^/]*$') END,
      nullif(regexp_extract(ResourceId, '(?i)(:endpoint/|:notebook-instance/|/virtualMachineScaleSets/|/virtualMachines/|/instances/)([^/:]+)', 2), '')) AS label,
    tagged->>'$.team' AS team,
    CASE WHEN lower(PricingUnit) IN ('h', 'hr', 'hrs', 'hour', 'hours') AND (provider <> 'gcp' OR is_chip)
         THEN CAST(PricingQuantity AS DECIMAL(38, 12)) / CASE WHEN is_chip THEN gpus ELSE 1 END END AS machine_hours
  FROM found
),
-- No account, id or formula is a name.
safe AS (
  SELECT *,
    CASE WHEN namespace IS NOT NULL AND workload IS NOT NULL THEN 'workload' WHEN pool IS NOT NULL THEN 'pool' WHEN label IS NOT NULL THEN 'name'
         WHEN team IS NOT NULL THEN 'tag' ELSE 'unmatched' END AS kind_of_key,
    CASE WHEN namespace IS NOT NULL AND workload IS NOT NULL THEN coalesce(cluster, '') || '/' || namespace || '/' || kind || '/' || workload
         WHEN pool IS NOT NULL THEN coalesce(cluster || '/', '') || pool WHEN label IS NOT NULL THEN label
         WHEN team IS NOT NULL THEN 'team=' || team ELSE '' END AS whole_key
  FROM keyed
),
lines AS (
  SELECT *,
    regexp_matches(whole_key, '^[-=+@]|[[:cntrl:]]|[0-9]{12}|(^|[/=])i-[0-9a-z]{8,}|arn:') AS is_hidden,
    CASE WHEN ChargeCategory = 'Usage' AND CommitmentDiscountStatus = 'Unused' THEN 'unused' ELSE lower(ChargeCategory) END AS charge,
    CASE WHEN CommitmentDiscountStatus = 'Used' OR PricingCategory = 'Committed' THEN 'committed'
         WHEN PricingCategory = 'Dynamic' OR regexp_matches(said, 'spot|preemptible') THEN 'spot'
         WHEN PricingCategory = 'Standard' THEN 'on_demand' END AS bought
  FROM safe
)
SELECT provider,
  CASE WHEN is_hidden THEN 'unmatched' ELSE kind_of_key END AS key_kind,
  CASE WHEN is_hidden THEN '' ELSE whole_key END AS key,
  coalesce(RegionId, '') AS region, coalesce(machine, '') AS machine, coalesce(accelerator, '') AS accelerator, gpus,
  strftime(ChargePeriodStart::TIMESTAMP, '%Y-%m') AS month, BillingCurrency AS currency, charge,
  sum(CAST(EffectiveCost AS DECIMAL(38, 12))) AS paid,
  CASE WHEN count(*) = count(ListCost) THEN sum(CAST(ListCost AS DECIMAL(38, 12))) END AS list,
  sum(machine_hours) FILTER (charge IN ('usage', 'unused')) AS hours,
  sum(machine_hours) FILTER (charge IN ('usage', 'unused') AND bought = 'on_demand') AS on_demand,
  sum(machine_hours) FILTER (charge IN ('usage', 'unused') AND bought = 'spot') AS spot,
  sum(machine_hours) FILTER (charge IN ('usage', 'unused') AND bought = 'committed') AS committed,
  sum(CAST(EffectiveCost AS DECIMAL(38, 12))) FILTER (machine_hours IS NOT NULL AND charge IN ('usage', 'unused') AND bought = 'on_demand') AS on_demand_paid,
  sum(CAST(ListCost AS DECIMAL(38, 12))) FILTER (machine_hours IS NOT NULL AND charge IN ('usage', 'unused') AND bought = 'on_demand') AS on_demand_list,
  sum(CAST(EffectiveCost AS DECIMAL(38, 12))) FILTER (ChargeClass = 'Correction') AS corrected,
  CASE WHEN max(until::TIMESTAMP) < date_trunc('month', max(ChargePeriodStart::TIMESTAMP)) + INTERVAL 1 MONTH
         OR current_date - 5 < date_trunc('month', max(ChargePeriodStart::TIMESTAMP)) + INTERVAL 1 MONTH THEN 1 END AS open,
  CASE WHEN max(until::TIMESTAMP) < date_trunc('month', max(ChargePeriodStart::TIMESTAMP)) + INTERVAL 1 MONTH
    THEN date_diff('minute', date_trunc('month', max(ChargePeriodStart::TIMESTAMP)), max(until::TIMESTAMP)) / 1440.0 END AS billed_days,
  'sql-duckdb' AS source
FROM lines
GROUP BY provider, 2, 3, 4, 5, 6, gpus, month, currency, charge
ORDER BY ALL;
